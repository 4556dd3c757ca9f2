package h3

import (
	"bytes"
	"errors"
	"fmt"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h2"
)

// Neither side has a dynamic table: ours never refers to one, and our SETTINGS allow the server
// none. So a block means the same wherever it stands, and no stream waits for another.

// A section is a decoder of header blocks, with the memory for one.
type section struct {
	text []byte // of a string in Huffman code
	name []byte // of a literal, while its value is decoded

	// The last block, and what it meant. Most responses of a server begin with the same bytes until
	// its clock advances.
	known []byte
	meant h2.Header
}

const knownMost = 1 << 10 // bytes of a block that are kept, and compared in vain

var (
	errPrefix  = errors.New("its prefix refers to a dynamic table, which we do not allow")
	errDynamic = errors.New("a field refers to a dynamic table, which we do not allow")
	errIndex   = errors.New("an index is beyond the static table's end")
	errCut     = errors.New("its prefix is cut or beyond all reason")
	errTooLong = &proto.Fault{Kind: proto.FaultOversized,
		Detail: fmt.Sprintf("the response header is longer than %d KiB", maxHead>>10)}
)

// decodeBlock decodes a complete header block. give is called for each field, unless it is nil.
func (s *section) decodeBlock(b []byte, give func(h *h2.Header, name, value []byte)) (
	h2.Header, error) {
	if give == nil && len(b) > 0 && bytes.Equal(b, s.known) {
		return s.meant, nil
	}
	h := h2.Header{Length: -1}
	rest, err := skipPrefix(b)
	if err != nil {
		return h, err
	}
	for len(rest) > 0 {
		n, err := s.decodeField(rest, &h, give)
		if err != nil {
			return h, err
		}
		if rest = rest[n:]; h.Size > maxHead { // a byte of the block can stand for 80 of it
			return h, errTooLong
		}
	}
	if len(b) <= knownMost {
		s.known, s.meant = append(s.known[:0], b...), h
	}
	return h, nil
}

// skipPrefix skips the two numbers before the fields: the inserts that a block requires, which must
// be none, and a base that then has no meaning.
func skipPrefix(b []byte) (rest []byte, err error) {
	inserts, n := h2.ParseInteger(b, 0xff)
	if n == 0 {
		return nil, errCut
	}
	_, k := h2.ParseInteger(b[n:], 0x7f)
	switch {
	case k == 0:
		return nil, errCut
	case inserts != 0:
		return nil, errPrefix
	}
	return b[n+k:], nil
}

// decodeField decodes the field at the front of b, and returns its length.
func (s *section) decodeField(b []byte, h *h2.Header, give func(h *h2.Header, name, value []byte)) (
	int, error) {
	var f h2.Field
	var name, value []byte
	var n int
	switch x := b[0]; {
	case x&0xc0 != 0:
		mask := byte(0x3f)
		if x&0x80 == 0 {
			mask = 0x0f
		}
		e, k, err := staticAt(b, mask)
		if err != nil {
			return 0, err
		}
		f, name, value, n = e.field, e.name, e.value, k
	case x&0x20 != 0:
		text, k, err := h2.DecodeString(b, 0x07, &s.name)
		if err != nil {
			return 0, err
		}
		f, name, n = h2.FieldOf(text), text, k
	default:
		return 0, errDynamic
	}
	if b[0]&0x80 == 0 { // a literal: its value follows
		text, k, err := h2.DecodeString(b[n:], 0x7f, &s.text)
		if err != nil {
			return 0, err
		}
		f, value, n = f.With(text, isValue(text)), text, n+k
	}
	h.SetField(&f)
	if give != nil {
		give(h, name, value)
	}
	return n, nil
}

// staticAt is the entry of the static table whose index begins under mask, above which a bit says
// that it is not one of a dynamic table.
func staticAt(b []byte, mask byte) (e *staticEntry, n int, err error) {
	i, n := h2.ParseInteger(b, mask)
	switch {
	case b[0]&(mask+1) == 0:
		return nil, 0, errDynamic
	case n == 0 || i >= len(staticEntries):
		return nil, 0, errIndex
	}
	return &staticEntries[i], n, nil
}

// isValue reports whether HTTP allows b as the value of a field.
func isValue(b []byte) bool {
	for _, x := range b {
		if x < ' ' && x != '\t' || x == 0x7f {
			return false
		}
	}
	return true
}

// appendField appends a field: as an index if the static table has it, otherwise as a literal.
func appendField(b []byte, name, value string) []byte {
	index, whole := h2.FindField(staticTable[:], name, value)
	if whole {
		return h2.AppendInteger(b, 0xc0, 0x3f, index)
	}
	never := byte(0)
	if h2.IsSecret(name) {
		never = 1
	}
	if index >= 0 {
		b = h2.AppendInteger(b, 0x50|never<<5, 0x0f, index)
	} else {
		b = h2.AppendString(b, 0x20|never<<4, 0x07, name)
	}
	return h2.AppendString(b, 0, 0x7f, value)
}
