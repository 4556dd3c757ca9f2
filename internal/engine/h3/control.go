package h3

import (
	"errors"
	"io"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
)

// sendSettings opens our control stream. Of the tables of QPACK it says nothing: so there are none.
func (c *conn) sendSettings() {
	settings := quicvarint.Append(quicvarint.Append(nil, maxFieldSectionSize), maxHead)
	b := quicvarint.Append([]byte{streamControl, frameSettings}, uint64(len(settings)))
	stream, err := c.quic.OpenUniStream()
	if err == nil {
		_, err = stream.Write(append(b, settings...))
	}
	if err != nil { // the server allows no stream, or is gone
		c.quic.CloseWithError(quic.ApplicationErrorCode(codeInternal), "")
	}
}

// acceptStreams reads the server's own streams, of which there are uniStreams at once at most.
func (c *conn) acceptStreams() {
	for {
		stream, err := c.quic.AcceptUniStream(c.ring.life)
		if err != nil {
			return
		}
		c.ring.all.Go(func() { c.readOwnStream(stream) })
	}
}

// readOwnStream reads a stream that the server has opened.
func (c *conn) readOwnStream(stream *quic.ReceiveStream) {
	kind, err := quicvarint.Read(quicvarint.NewReader(stream))
	if err != nil {
		return
	}
	switch {
	case kind == streamPush:
		err = &violation{codeID, "a push, which we do not allow"}
	case kind > streamDecoder:
		stream.CancelRead(quic.StreamErrorCode(codeStreamCreation))
	case c.isSecond(kind):
		err = &violation{codeStreamCreation, "a second stream of its control, or of QPACK"}
	case kind == streamControl:
		err = c.readControl(stream)
	default: // what it says of a table, which we do not use
		io.Copy(io.Discard, stream)
	}
	if v := (*violation)(nil); errors.As(err, &v) {
		closeFor(c.quic, v)
	}
}

// isSecond reports whether the server has had a stream of the kind before.
func (c *conn) isSecond(kind uint64) bool {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	seen := c.seen[kind]
	c.seen[kind] = true
	return seen
}

// A control is what has been read of a server's control stream.
type control struct {
	conn    *conn
	settled bool
	last    uint64 // id of GOAWAY
}

func newControl(c *conn) *control { return &control{conn: c, last: 1<<62 - 1} }

const (
	settingsMost = 8 << 10 // bytes of a frame
	uniStreams   = 16      // of the server, at once: it needs three
)

// readControl reads the control stream. That it ends, or breaks the rules, is an error.
func (c *conn) readControl(stream *quic.ReceiveStream) error {
	user, b := newControl(c), make([]byte, 512)
	var frames frameReader
	for {
		n, err := stream.Read(b)
		if fault := frames.readFrames(b[:n], user); fault != nil {
			return fault
		}
		var reset *quic.StreamError
		switch {
		case err == io.EOF, errors.As(err, &reset):
			return &violation{codeClosedCritical, "its control stream has ended"}
		case err != nil: // so has the connection
			return nil
		}
	}
}

func (u *control) beginFrame(kind, size uint64) (whole bool, err error) {
	switch v := unexpected(kind); {
	case !u.settled && kind != frameSettings:
		return false, &violation{codeMissingSettings, "its first frame is not SETTINGS"}
	case v != nil:
		return false, v
	}
	switch kind {
	case frameSettings:
		if u.settled {
			return false, misplaced("a second SETTINGS")
		}
		u.settled = true
		if size > settingsMost {
			return false, &violation{codeFrame, "SETTINGS is too long"}
		}
		return true, nil
	case frameGoAway:
		if size == 0 || size > 8 {
			return false, &violation{codeFrame, "GOAWAY has no number, or more than one"}
		}
		return true, nil
	case frameData, frameHeaders:
		return false, misplaced("a message on its control stream")
	}
	return false, nil
}

func (u *control) hearFrame(kind uint64, b []byte, _ bool) error {
	switch kind {
	case frameSettings:
		return checkSettings(b)
	case frameGoAway:
		id, n, err := quicvarint.Parse(b)
		switch {
		case err != nil || n != len(b):
			return &violation{codeFrame, "GOAWAY has no number, or more than one"}
		case id%4 != 0 || id > u.last:
			return &violation{codeID, "GOAWAY with a number that it cannot have"}
		}
		u.last = id
		u.conn.stopTaking()
	}
	return nil
}

// checkSettings checks the server's SETTINGS. None of them changes what we send.
func checkSettings(b []byte) error {
	seen := map[uint64]bool{}
	for len(b) > 0 {
		id, n, err := quicvarint.Parse(b)
		if err != nil {
			return &violation{codeFrame, "SETTINGS is cut"}
		}
		_, k, err := quicvarint.Parse(b[n:])
		switch {
		case err != nil:
			return &violation{codeFrame, "SETTINGS is cut"}
		case seen[id]:
			return &violation{codeSettings, "SETTINGS has a setting twice"}
		case 2 <= id && id <= 5:
			return &violation{codeSettings, "SETTINGS has a setting of HTTP/2"}
		}
		seen[id] = true
		b = b[n+k:]
	}
	return nil
}
