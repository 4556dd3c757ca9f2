package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// messageMax bounds a line of the protocol: a command and its environment are
// at most this long on Linux, or nearly.
const messageMax = 4 << 20

// An order is what dyno asks of the supervisor. Each is answered by a reply
// with the same Seq.
type order struct {
	Seq     int
	Do      string
	ID      int            `json:",omitempty"` // of the process: start, ready, signal
	Spec    *Spec          `json:",omitempty"` // open, which comes first
	Process *Process       `json:",omitempty"` // start
	Streams [3]bool        `json:",omitzero"`  // start: which files come with the order
	Guest   bool           `json:",omitempty"` // start
	Signal  syscall.Signal `json:",omitempty"` // signal
}

// What an order can ask for.
const (
	doOpen   = "open"
	doStart  = "start"
	doReady  = "ready"
	doFlush  = "flush"
	doSignal = "signal"
	doStop   = "stop"
)

// A reply answers the order of the same Seq, or tells an Event.
type reply struct {
	Seq     int      `json:",omitempty"`
	PID     int      `json:",omitempty"`
	Failure *Failure `json:",omitempty"`
	Report  *Report  `json:",omitempty"`
	Event   *event   `json:",omitempty"`
}

// A wire carries messages, each a line of JSON, and open files with them.
type wire struct {
	conn  *net.UnixConn
	lines *bufio.Scanner

	reading []*os.File // came with what was read, and are not yet taken

	mu sync.Mutex // of writing
}

// newWire takes over one end of a socket pair.
func newWire(end *os.File) (*wire, error) {
	defer end.Close()
	conn, err := net.FileConn(end)
	if err != nil {
		return nil, err
	}
	unixConn, is := conn.(*net.UnixConn)
	if !is {
		return nil, errors.Join(errors.New("not a unix socket"), conn.Close())
	}
	w := &wire{conn: unixConn}
	w.lines = bufio.NewScanner(wireReader{w})
	w.lines.Buffer(nil, messageMax)
	return w, nil
}

// socketPair is a wire, and the other end of it to be given to a child.
func socketPair() (*wire, *os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	other := os.NewFile(uintptr(ends[1]), "supervisor")
	w, err := newWire(os.NewFile(uintptr(ends[0]), "supervisor"))
	if err != nil {
		return nil, nil, errors.Join(err, other.Close())
	}
	return w, other, nil
}

// encode makes a line of a message.
func encode(message any) ([]byte, error) {
	line, err := json.Marshal(message)
	if err == nil && len(line)+1 > messageMax {
		err = fmt.Errorf("command and environment have %d bytes, at most %d", len(line), messageMax)
	}
	return append(line, '\n'), err
}

// sendMessage writes a line, with files if there are any.
func (w *wire) sendMessage(line []byte, files ...*os.File) error {
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n, _, err := w.conn.WriteMsgUnix(line, rights, nil)
	if err == nil && n < len(line) { // of nothing it would fail, once the other side has ended
		_, err = w.conn.Write(line[n:])
	}
	return err
}

// receiveMessage reads the next message; io.EOF when the other side has ended.
func (w *wire) receiveMessage(message any) error {
	if !w.lines.Scan() {
		if err := w.lines.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	return json.Unmarshal(w.lines.Bytes(), message)
}

// takeFiles takes those that came with the message just received.
func (w *wire) takeFiles(which [3]bool) (s streams, err error) {
	for i, came := range which {
		if !came {
			continue
		}
		if len(w.reading) == 0 {
			return s, errors.New("files that were announced did not come")
		}
		s[i], w.reading = w.reading[0], w.reading[1:]
	}
	return s, nil
}

// A wireReader reads a wire's bytes and puts aside the files among them, which
// come no later than the first byte of their message.
type wireReader struct{ w *wire }

func (r wireReader) Read(p []byte) (int, error) {
	rights := make([]byte, unix.CmsgSpace(3*4))
	n, oob, _, _, err := r.w.conn.ReadMsgUnix(p, rights)
	if errors.Is(err, io.EOF) {
		return 0, io.EOF // bare, as readers have it
	}
	if err != nil || oob == 0 {
		return n, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:oob])
	if err != nil {
		return n, err
	}
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return n, err
		}
		for _, fd := range fds {
			r.w.reading = append(r.w.reading, os.NewFile(uintptr(fd), "stream"))
		}
	}
	return n, nil
}
