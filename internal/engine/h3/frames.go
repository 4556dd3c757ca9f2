package h3

import (
	"fmt"

	"github.com/quic-go/quic-go/quicvarint"
)

// HTTP/3's names of frames, streams and settings.
const (
	frameData        = 0x0
	frameHeaders     = 0x1
	frameCancelPush  = 0x3
	frameSettings    = 0x4
	framePushPromise = 0x5
	frameGoAway      = 0x7
	frameMaxPushID   = 0xd
	framePriority    = 0xf0700 // of RFC 9218, as is the next
	framePriorityOf  = 0xf0701

	streamControl = 0x0
	streamPush    = 0x1
	streamEncoder = 0x2
	streamDecoder = 0x3

	maxFieldSectionSize = 0x6
)

// A frameReader cuts the bytes of a stream into frames. It keeps no more of them than a frame's
// head, and what hear asks for.
type frameReader struct {
	head  [16]byte // the type and length of the next frame, as far as they have come
	heads int      // bytes of it
	under bool     // a frame is under way
	kind  uint64
	left  uint64 // bytes of its payload still to come
	whole bool   // its payload is wanted in one piece
	kept  []byte // of that
}

// A frameUser is told what frames have.
type frameUser interface {
	// beginFrame is told of each frame. It says whether the payload is wanted at once, with its end,
	// which is only for what it knows to be short. An error ends reading.
	beginFrame(kind, size uint64) (whole bool, err error)
	// hearFrame is given the next bytes of the payload: where it is wanted at once that is all of it.
	// An empty payload is told of too.
	hearFrame(kind uint64, b []byte) error
}

// readFrames tells user of the frames in b, the next bytes of the stream.
func (r *frameReader) readFrames(b []byte, user frameUser) (err error) {
	for len(b) > 0 {
		if !r.under {
			if b, err = r.readHead(b, user); err != nil || !r.under {
				return err
			}
		}
		n := int(min(r.left, uint64(len(b))))
		r.left -= uint64(n)
		p, last := b[:n], r.left == 0
		b = b[n:]
		if r.whole && (!last || len(r.kept) > 0) {
			r.kept = append(r.kept, p...)
			p = r.kept
		}
		if r.under = !last; last {
			r.kept = reuse(r.kept) // p still has it
		}
		if r.whole && !last {
			return nil
		}
		if err := user.hearFrame(r.kind, p); err != nil {
			return err
		}
	}
	return nil
}

// readHead reads the type and length of a frame, as far as b has them, and returns the rest of b.
// Where they are whole, r.under is set.
func (r *frameReader) readHead(b []byte, user frameUser) (rest []byte, err error) {
	head, kept := b, r.heads
	if kept > 0 {
		n := copy(r.head[kept:], b)
		head = r.head[:kept+n]
	}
	kind, n, err := quicvarint.Parse(head)
	if err == nil {
		var size uint64
		var k int
		if size, k, err = quicvarint.Parse(head[n:]); err == nil {
			r.under, r.kind, r.left, r.heads = true, kind, size, 0
			r.whole, err = user.beginFrame(kind, size)
			return b[n+k-kept:], err
		}
	}
	r.heads = copy(r.head[:], head) // shorter than two numbers, so all of it fits
	return nil, nil
}

// isBetween reports whether no frame is under way.
func (r *frameReader) isBetween() bool { return !r.under && r.heads == 0 }

// unexpected are the frames that a server may send nowhere.
func unexpected(kind uint64) error {
	switch kind {
	case 0x2, 0x6, 0x8, 0x9:
		return &violation{codeFrameUnexpected, fmt.Sprintf("a frame of HTTP/2's type %d", kind)}
	case frameMaxPushID, framePriority, framePriorityOf:
		return &violation{codeFrameUnexpected, fmt.Sprintf("a frame of type %#x, which only clients send",
			kind)}
	case framePushPromise, frameCancelPush:
		return &violation{codeID, "a frame about a push, which we do not allow"}
	}
	return nil
}
