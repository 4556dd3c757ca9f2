package fields

import (
	"errors"

	"dyno/internal/engine/proto"
)

// A Coding writes header fields as HPACK or QPACK does, without a dynamic table. Names are in lower
// case.
type Coding interface {
	// AppendField appends a field: as an index if the static table has it, otherwise as a literal
	// that is never added to a table.
	AppendField(b, name, value []byte) []byte
	// AppendName appends the name of a field whose value follows as a string of 7 bits: see
	// AppendString.
	AppendName(b, name []byte) []byte
}

// AppendInteger appends a number whose first bits stand under mask, beside those of first.
func AppendInteger(b []byte, first, mask byte, v int) []byte {
	if v < int(mask) {
		return append(b, first|byte(v))
	}
	b = append(b, first|mask)
	for v -= int(mask); v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// AppendString appends s in the shorter form, plain or Huffman. Its length begins under mask,
// beside the bits of first: see DecodeString.
func AppendString(b []byte, first, mask byte, s []byte) []byte {
	if n := huffman.encodedSize(s); n < len(s) {
		return huffman.appendEncoded(AppendInteger(b, first|(mask+1), mask, n), s)
	}
	return append(AppendInteger(b, first, mask, len(s)), s...)
}

// Find is the index of a field in a static table, and whole is true; otherwise it is that of the
// first field of the name, or -1.
func Find(table []proto.Field, name, value []byte) (index int, whole bool) {
	index = -1
	for i := range table {
		if table[i].Name != string(name) {
			continue
		}
		if table[i].Value == string(value) {
			return i, true
		}
		if index < 0 {
			index = i
		}
	}
	return index, false
}

// IsSecret reports whether the values of fields of that name must not get into anybody's table.
func IsSecret(name []byte) bool {
	switch string(name) {
	case "authorization", "cookie", "proxy-authorization":
		return true
	}
	return false
}

// Why a field cannot be decoded.
var (
	ErrInteger = errors.New("a number is cut or beyond all reason")
	errString  = errors.New("a string is longer than the block")
	errHuffman = errors.New("a string is not in Huffman code")
)

// DecodeString decodes the string at the front of b, and returns its length there. Mask has the
// bits of its length in the first byte; the bit above them says that it is in Huffman code. Then s
// is in text, which is overwritten.
func DecodeString(b []byte, mask byte, text *[]byte) (s []byte, n int, err error) {
	size, n := ParseInteger(b, mask)
	switch {
	case n == 0:
		return nil, 0, ErrInteger
	case size > len(b)-n:
		return nil, 0, errString
	}
	s = b[n : n+size]
	if b[0]&(mask+1) != 0 {
		var ok bool
		if *text, ok = huffman.decodeHuffman((*text)[:0], s); !ok {
			return nil, 0, errHuffman
		}
		s = *text
	}
	return s, n + size, nil
}

// ParseInteger parses a number whose first bits are under mask. n is its length in bytes: 0 if it
// is incomplete or above all limits.
func ParseInteger(b []byte, mask byte) (v, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	if v = int(b[0] & mask); v < int(mask) {
		return v, 1
	}
	for n = 1; n < len(b) && n <= 4; n++ {
		v += int(b[n]&0x7f) << (7 * (n - 1))
		if b[n] < 0x80 {
			return v, n + 1
		}
	}
	return 0, 0
}
