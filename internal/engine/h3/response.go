package h3

import (
	"errors"
	"fmt"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h2"
)

// A response is read frame by frame into records for the codec.
type response struct {
	frames  frameReader
	section section
	want    *proto.Want
	id      uint64
	records []byte // to be reported

	bare    bool // it has no body: it answers HEAD, or by its status
	headed  bool // the final header has come
	ended   bool // the trailer has
	interim int  // 1xx responses before it
	status  uint16
	length  int64 // content-length, or -1
	got     int64 // bytes of the body
}

// maxHead is how many bytes a response's header may have, encoded or decoded.
const maxHead = 256 << 10

// maxInterim is how many 1xx responses to one request are borne, as for HTTP/2.
const maxInterim = 64

// beginResponse prepares for the next response. It keeps the last header block, and memory.
func (p *response) beginResponse(id uint64, bare bool) {
	*p = response{section: p.section, want: p.want, records: p.records[:0], id: id, bare: bare,
		length: -1, frames: frameReader{kept: p.frames.kept[:0]}}
}

// endResponse frees what is large: who waits for a request needs none of it.
func (p *response) endResponse() {
	p.records, p.frames.kept = reuse(p.records), reuse(p.frames.kept)
}

// keptMost is how much memory for one thing an exchange keeps for the next, which may need little.
const keptMost = 8 << 10

// reuse is memory without what it holds, unless it is large.
func reuse(b []byte) []byte {
	if cap(b) > keptMost {
		return nil
	}
	return b[:0]
}

func (p *response) beginFrame(kind, size uint64) (whole bool, err error) {
	switch kind {
	case frameHeaders:
		switch {
		case p.ended:
			return false, misplaced("HEADERS behind the trailer")
		case size > maxHead:
			return false, errTooLong
		}
		return true, nil
	case frameData:
		switch {
		case !p.headed:
			return false, misplaced("DATA before the header")
		case p.ended:
			return false, misplaced("DATA behind the trailer")
		case p.bare && size > 0:
			return false, proto.ForbiddenBody(p.status, nil)
		case p.length >= 0 && size > uint64(p.length-p.got):
			return false, fmt.Errorf("its body is longer than its content-length, %d", p.length)
		}
	case frameSettings, frameGoAway, frameCancelPush:
		return false, misplaced(fmt.Sprintf("a frame of type %d on the stream of a request", kind))
	default:
		return false, unexpected(kind)
	}
	return false, nil
}

func misplaced(what string) error { return &violation{codeFrameUnexpected, what} }

func (p *response) hearFrame(kind uint64, b []byte) error {
	switch kind {
	case frameHeaders:
		return p.readHeader(b)
	case frameData:
		if wanted := p.want.Cut(p.got, b); len(wanted) > 0 {
			p.records = record{what: piece, id: p.id, text: wanted}.appendTo(p.records)
		}
		p.got += int64(len(b))
	}
	return nil
}

// readHeader reads a header block: of a 1xx response, of the final one, or its trailer.
func (p *response) readHeader(b []byte) error {
	var give func(h *h2.Header, name, value []byte)
	if p.want.WantsFields() {
		give = p.giveField
	}
	h, err := p.section.decodeBlock(b, give)
	p.section.text, p.section.name = reuse(p.section.text), reuse(p.section.name)
	switch {
	case err == errTooLong: // which can be decoded
		return err
	case err != nil:
		return &violation{codeDecompression, err.Error()}
	case h.Wrong != "":
		return errors.New(h.Wrong)
	case p.headed && h.Status != 0:
		return errors.New("its trailer has a :status")
	case p.headed:
		p.ended = true
		return nil
	case h.Status == 0:
		return errors.New("it has no :status")
	case h.Status == 101:
		return errors.New("HTTP/3 has no status 101")
	case h.Status < 200:
		if p.interim++; p.interim > maxInterim {
			return &proto.Fault{Kind: proto.FaultOversized, Detail: fmt.Sprintf(
				"more than %d interim (1xx) responses to one request", maxInterim)}
		}
		return nil
	}
	p.headed, p.status = true, h.Status
	if p.bare = p.bare || h.Status == 204 || h.Status == 304; !p.bare {
		p.length = h.Length
	}
	p.records = record{what: head, id: p.id, n: uint64(h.Status)}.appendTo(p.records)
	return nil
}

// giveField reports a field of the final header or its trailer, if it is wanted.
func (p *response) giveField(h *h2.Header, name, value []byte) {
	if len(name) == 0 || name[0] == ':' || h.Size > maxHead || !p.headed && h.Status < 200 ||
		!p.want.WantsField(name) {
		return
	}
	what := field
	if p.headed {
		what = trailer
	}
	out := record{what: what, id: p.id, n: uint64(len(name))}.appendTo(p.records)
	from := len(out)
	p.records = append(append(out, name...), value...)
	setLength(p.records, from)
}

var errNoHeader = errors.New("its stream ended before its header")

// finishResponse is told that the stream has ended.
func (p *response) finishResponse() error {
	switch {
	case !p.frames.isBetween():
		return &violation{codeFrame, "a stream ended inside a frame"}
	case !p.headed:
		return errNoHeader
	case p.length >= 0 && p.got < p.length:
		return fmt.Errorf("its body has %d bytes, and its content-length is %d", p.got, p.length)
	}
	return nil
}
