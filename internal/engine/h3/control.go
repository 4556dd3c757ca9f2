package h3

import (
	"errors"
	"fmt"
	"io"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"

	"dyno/internal/engine/proto/fields"
)

// sendSettings opens our control stream. Of the tables of QPACK it says nothing: so there are none.
func (c *conn) sendSettings() {
	settings := quicvarint.Append(quicvarint.Append(nil, maxFieldSectionSize), fields.MaxHead)
	b := quicvarint.Append([]byte{streamControl, frameSettings}, uint64(len(settings)))
	stream, err := c.quic.OpenUniStream()
	var full *quic.StreamLimitReachedError
	switch {
	case err == nil:
		stream.Write(append(b, settings...)) // it fails where the connection has ended
	case errors.As(err, &full):
		c.closeFor(&violation{codeProtocol,
			"it allows us no stream of our own, and has to allow three (RFC 9114, 6.2)"})
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
	case !c.noteStream(kind):
		err = &violation{codeStreamCreation, "a second stream of its control, or of QPACK"}
	case kind == streamControl:
		err = c.readControl(stream)
	default:
		err = readInstructions(stream, kind)
	}
	if v := (*violation)(nil); errors.As(err, &v) {
		c.closeFor(v)
	}
}

// noteStream notes that the server has opened a stream of the kind. It is false if that had one
// before.
func (c *conn) noteStream(kind uint64) (first bool) {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	first = !c.seen[kind]
	c.seen[kind] = true
	return first
}

// A control is what has been read of a server's control stream.
type control struct {
	conn    *conn
	settled bool
	leaves  int // GOAWAYs
}

const (
	controlMost = 8 << 10 // bytes of SETTINGS or GOAWAY
	uniStreams  = 16      // of the server, at once: it needs three
	leavesMost  = 64      // GOAWAYs of a connection; two are usual
)

// readCritical reads a stream that must not end, and gives it to hear piece by piece. That it ends,
// or breaks the rules, is an error.
func readCritical(stream io.Reader, ended string, hear func(b []byte) error) error {
	b := make([]byte, 512)
	for {
		n, err := stream.Read(b)
		if fault := hear(b[:n]); fault != nil {
			return fault
		}
		var reset *quic.StreamError
		switch {
		case err == io.EOF, errors.As(err, &reset):
			return &violation{codeClosedCritical, ended}
		case err != nil: // so has the connection
			return nil
		}
	}
}

// readControl reads the control stream.
func (c *conn) readControl(stream io.Reader) error {
	user, frames := control{conn: c}, frameReader{}
	return readCritical(stream, "its control stream has ended", func(b []byte) error {
		return frames.readFrames(b, &user)
	})
}

// readInstructions reads the stream of the server's QPACK encoder or decoder. There are no tables,
// so an encoder has nothing to instruct: that its table has no room is borne, though RFC 9204
// (3.2.3) forbids it. A decoder has nothing to acknowledge; it may say that it reads a stream no
// more, a number of which nothing follows here.
func readInstructions(stream io.Reader, kind uint64) error {
	inside := false
	return readCritical(stream, "a stream of its QPACK has ended", func(b []byte) error {
		for _, x := range b {
			switch {
			case inside:
				inside = x >= 0x80
			case kind == streamEncoder && x != 0x20:
				return &violation{codeEncoder, "an instruction for a dynamic table, which we do not allow"}
			case kind == streamDecoder && x&0xc0 != 0x40:
				return &violation{codeDecoder, "it acknowledges entries of a table that there is not"}
			default:
				inside = x&0x3f == 0x3f
			}
		}
		return nil
	})
}

func (u *control) beginFrame(kind, size uint64) (whole bool, err error) {
	switch {
	case !u.settled && kind != frameSettings:
		return false, &violation{codeMissingSettings, "its first frame is not SETTINGS"}
	case u.settled && kind == frameSettings:
		return false, misplaced("a second SETTINGS")
	}
	u.settled = true
	switch kind {
	case frameSettings, frameGoAway:
		if size > controlMost {
			return false, &violation{codeFrame, "SETTINGS or GOAWAY is too long"}
		}
		return true, nil
	case frameData, frameHeaders, framePushPromise:
		return false, misplaced("a message on its control stream")
	}
	return false, unexpected(kind)
}

func (u *control) hearFrame(kind uint64, b []byte) error {
	switch kind {
	case frameSettings:
		return checkSettings(b)
	case frameGoAway:
		id, n, err := quicvarint.Parse(b)
		switch {
		case err != nil || n != len(b):
			return &violation{codeFrame, "GOAWAY has no number, or more than one"}
		case id%4 != 0 || u.conn.gone.Load() && id > u.conn.last.Load():
			return &violation{codeID, "GOAWAY with a number that it cannot have"}
		}
		if u.leaves++; u.leaves > leavesMost {
			return &violation{codeExcessive, fmt.Sprintf("more than %d GOAWAYs", leavesMost)}
		}
		u.conn.stopTaking(id)
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
