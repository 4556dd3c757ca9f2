package h3

import (
	"fmt"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

// A response is read frame by frame into records for the codec.
type response struct {
	frames  frameReader
	section section
	want    *proto.Want
	id      uint64
	records []byte // to be reported

	ended bool // the trailer has come
	fields.Response
}

// beginResponse prepares for the next response. It keeps the last header block, and memory.
func (p *response) beginResponse(id uint64, bare bool) {
	*p = response{section: p.section, want: p.want, records: p.records[:0], id: id,
		frames: frameReader{kept: p.frames.kept[:0]}, Response: fields.NewResponse(bare)}
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
		case size > fields.MaxHead:
			return false, fields.TooLong
		}
		return true, nil
	case frameData:
		switch {
		case !p.Headed:
			return false, misplaced("DATA before the header")
		case p.ended:
			return false, misplaced("DATA behind the trailer")
		}
		if fault := p.CheckBody(int64(size)); fault != nil {
			return false, fault
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
		if wanted := p.want.Cut(p.Got, b); len(wanted) > 0 {
			p.records = record{what: piece, id: p.id, text: wanted}.appendTo(p.records)
		}
		p.Got += int64(len(b))
	}
	return nil
}

// readHeader reads a header block: of a 1xx response, of the final one, or its trailer.
func (p *response) readHeader(b []byte) error {
	var give giver
	if p.want.WantsFields() {
		give = p.giveField
	}
	h, err := p.section.decodeBlock(b, give)
	p.section.text, p.section.name = reuse(p.section.text), reuse(p.section.name)
	if err != nil {
		return &violation{codeDecompression, err.Error()}
	}
	part, fault := p.AddHeader(&h)
	switch {
	case fault != nil:
		return fault
	case part == fields.Trailer:
		p.ended = true
	case part == fields.Final:
		p.records = record{what: head, id: p.id, n: uint64(h.Status)}.appendTo(p.records)
	}
	return nil
}

// giveField reports a field of the final header or its trailer, if it is wanted.
func (p *response) giveField(h *fields.Header, name, value []byte) {
	if len(name) == 0 || name[0] == ':' || h.Size > fields.MaxHead || !p.Headed && h.Status < 200 ||
		!p.want.WantsField(name) {
		return
	}
	what := field
	if p.Headed {
		what = trailer
	}
	out := record{what: what, id: p.id, n: uint64(len(name))}.appendTo(p.records)
	from := len(out)
	p.records = append(append(out, name...), value...)
	setLength(p.records, from)
}

// finishResponse is told that the stream has ended.
func (p *response) finishResponse() error {
	if !p.frames.isBetween() {
		return &violation{codeFrame, "a stream ended inside a frame"}
	}
	if fault := p.CheckEnd(); fault != nil {
		return fault
	}
	return nil
}
