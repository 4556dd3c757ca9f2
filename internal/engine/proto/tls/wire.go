package tls

import (
	"io"
	"net"
	"time"
)

// A wire is a net.Conn whose peer is the worker.
type wire struct {
	in, out []byte // in is what the worker received, lent during Decode
	eof     bool
	wait    func() // in the handshake: waits for more of in, or eof

	// Position of the reader in a record: bytes of its header, and then bytes left.
	head int
	left uint16
}

const recordHeader = 5 // type, version, version, length, length

// Read returns what there is, but nothing beyond the end of a record.
func (w *wire) Read(p []byte) (int, error) {
	for len(w.in) == 0 {
		switch {
		case w.eof:
			return 0, io.EOF
		case w.wait == nil:
			return 0, errAgain
		}
		w.wait()
	}
	n, most := 0, min(len(p), len(w.in))
	for ; n < most && w.head < recordHeader; n++ {
		w.left = w.left<<8 | uint16(w.in[n]) // the length is last
		w.head++
	}
	if w.head == recordHeader {
		k := min(most-n, int(w.left))
		n += k
		if w.left -= uint16(k); w.left == 0 {
			w.head = 0
		}
	}
	copy(p, w.in[:n])
	w.in = w.in[n:]
	return n, nil
}

func (w *wire) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	return len(p), nil
}

func (w *wire) Close() error                     { return nil }
func (w *wire) LocalAddr() net.Addr              { return nowhere{} }
func (w *wire) RemoteAddr() net.Addr             { return nowhere{} }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// nowhere is the address of a wire. crypto/tls stores sessions under it if the server has no name.
type nowhere struct{}

func (nowhere) Network() string { return "memory" }
func (nowhere) String() string  { return "memory" }

// again is a temporary net.Error, which crypto/tls does not store.
type again struct{}

func (again) Error() string   { return "tls: more bytes are needed" }
func (again) Timeout() bool   { return true }
func (again) Temporary() bool { return true }

var errAgain error = again{}
