package h3

import (
	"bytes"
	"errors"

	"dyno/internal/engine/proto/fields"
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
	meant fields.Header
}

const knownMost = 1 << 10 // bytes of a block that are kept, and compared in vain

var (
	errPrefix  = errors.New("its prefix refers to a dynamic table, which we do not allow")
	errBase    = errors.New("its prefix has a base below 0")
	errDynamic = errors.New("a field refers to a dynamic table, which we do not allow")
	errIndex   = errors.New("an index is beyond the static table's end")
	errCut     = errors.New("its prefix is cut or beyond all reason")
)

// A giver is told of each field of a header, and what the header means so far.
type giver func(h *fields.Header, name, value []byte)

// decodeBlock decodes a complete header block, or its front if it is too long. give is called for
// each field, unless it is nil.
func (s *section) decodeBlock(b []byte, give giver) (fields.Header, error) {
	if give == nil && len(b) > 0 && bytes.Equal(b, s.known) {
		return s.meant, nil
	}
	h := fields.Header{Length: -1}
	rest, err := skipPrefix(b)
	if err != nil {
		return h, err
	}
	for len(rest) > 0 {
		n, err := s.decodeField(rest, &h, give)
		if err != nil {
			return h, err
		}
		if rest = rest[n:]; h.Size > fields.MaxHead { // a byte of the block can stand for 80 of it
			return h, nil
		}
	}
	if len(b) <= knownMost {
		s.known, s.meant = append(s.known[:0], b...), h
	}
	return h, nil
}

// skipPrefix skips the two numbers before the fields: the inserts that a block requires, which must
// be none, and a base that then has no meaning, but may not lie before them (RFC 9204, 4.5.1.2).
func skipPrefix(b []byte) (rest []byte, err error) {
	inserts, n := fields.ParseInteger(b, 0xff)
	if n == 0 {
		return nil, errCut
	}
	_, k := fields.ParseInteger(b[n:], 0x7f)
	switch {
	case k == 0:
		return nil, errCut
	case inserts != 0:
		return nil, errPrefix
	case b[n]&0x80 != 0:
		return nil, errBase
	}
	return b[n+k:], nil
}

// decodeField decodes the field at the front of b, and returns its length.
func (s *section) decodeField(b []byte, h *fields.Header, give giver) (int, error) {
	var f fields.Field
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
		text, k, err := fields.DecodeString(b, 0x07, &s.name)
		if err != nil {
			return 0, err
		}
		f, name, n = fields.Named(text), text, k
	default:
		return 0, errDynamic
	}
	if b[0]&0x80 == 0 { // a literal: its value follows
		text, k, err := fields.DecodeString(b[n:], 0x7f, &s.text)
		if err != nil {
			return 0, err
		}
		f, value, n = f.With(text), text, n+k
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
	i, n := fields.ParseInteger(b, mask)
	switch {
	case b[0]&(mask+1) == 0:
		return nil, 0, errDynamic
	case n == 0 || i >= len(staticEntries):
		return nil, 0, errIndex
	}
	return &staticEntries[i], n, nil
}

// A coding is QPACK.
type coding struct{}

func (coding) AppendField(b, name, value []byte) []byte {
	index, whole := fields.Find(staticTable[:], name, value)
	if whole {
		return fields.AppendInteger(b, 0xc0, 0x3f, index)
	}
	return fields.AppendString(appendNameAt(b, name, index), 0, 0x7f, value)
}

func (coding) AppendName(b, name []byte) []byte {
	index, _ := fields.Find(staticTable[:], name, nil)
	return appendNameAt(b, name, index)
}

// appendNameAt writes a name that the static table has at that index, or below 0 if it has not.
func appendNameAt(b, name []byte, index int) []byte {
	never := byte(0)
	if fields.IsSecret(name) {
		never = 1
	}
	if index >= 0 {
		return fields.AppendInteger(b, 0x50|never<<5, 0x0f, index)
	}
	return fields.AppendString(b, 0x20|never<<4, 0x07, name)
}
