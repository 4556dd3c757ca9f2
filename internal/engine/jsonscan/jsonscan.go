// Package jsonscan walks through JSON text (RFC 8259) where it lies, without decoding it. So to
// look for one value in an answer allocates nothing. It accepts what encoding/json accepts.
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// deepest is how deep values can be nested, as for encoding/json.
const deepest = 10_000

// Space is the first place from i on that is no white space, or len(b).
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// Skip is the place behind the value that begins at b[i]. If it is no JSON, end is where it stops
// being so.
func Skip(b []byte, i int) (end int, ok bool) { return skip(b, i, 0) }

func skip(b []byte, i, depth int) (end int, ok bool) {
	if i >= len(b) {
		return i, false
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipContainer(b, i, depth+1)
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	}
	return skipNumber(b, i)
}

func skipWord(b []byte, i int, word string) (end int, ok bool) {
	for k := range len(word) {
		if i+k >= len(b) || b[i+k] != word[k] {
			return i + k, false
		}
	}
	return i + len(word), true
}

// skipContainer does what Walk does, in registers.
func skipContainer(b []byte, i, depth int) (end int, ok bool) {
	if depth > deepest {
		return i, false
	}
	object := b[i] == '{'
	closing := b[i] + 2 // of both brackets
	if i = Space(b, i+1); i < len(b) && b[i] == closing {
		return i + 1, true
	}
	for {
		if object {
			if i, ok = skipString(b, i); !ok {
				return i, false
			}
			if i = Space(b, i); i >= len(b) || b[i] != ':' {
				return i, false
			}
			i = Space(b, i+1)
		}
		if i, ok = skip(b, i, depth); !ok {
			return i, false
		}
		i = Space(b, i)
		switch {
		case i >= len(b):
			return i, false
		case b[i] == closing:
			return i + 1, true
		case b[i] != ',':
			return i, false
		}
		i = Space(b, i+1)
	}
}

// A Walk goes through the members of an object or the elements of an array. Set Text, Object, and
// At to the place behind the bracket. While Next reports true, At is where a value begins; set it
// to the place behind that value.
type Walk struct {
	Text   []byte
	Object bool
	At     int
	Key    []byte // of an Object's member: with its quotes
	KeyAt  int    // where it begins
	// Escaped: the Key has escapes.
	Escaped bool
	Ended   bool // after Next reported false: the container did end, or At is where it is no JSON
	begun   bool
}

// Next moves to the next value.
func (w *Walk) Next() bool {
	b := w.Text
	closing := byte(']')
	if w.Object {
		closing = '}'
	}
	i := Space(b, w.At)
	w.At = i
	switch {
	case i >= len(b):
		return false
	case b[i] == closing:
		w.At, w.Ended = i+1, true
		return false
	case w.begun:
		if b[i] != ',' {
			return false
		}
		i = Space(b, i+1)
	}
	w.begun = true
	if w.At = i; !w.Object {
		if i < len(b) && b[i] == closing { // after a comma
			return false
		}
		return true
	}
	return w.nextKey(i)
}

// nextKey moves to the value of the member that begins at i.
func (w *Walk) nextKey(i int) bool {
	b := w.Text
	end, ok := plainString(b, i)
	if w.Escaped = !ok; w.Escaped {
		if end, ok = skipString(b, i); !ok {
			w.At = end
			return false
		}
	}
	w.Key, w.KeyAt = b[i:end], i
	w.At = Space(b, end)
	if w.At >= len(b) || b[w.At] != ':' {
		return false
	}
	w.At = Space(b, w.At+1)
	return true
}

// plainString is the place behind a string without escapes; not ok: there is none at i.
func plainString(b []byte, i int) (end int, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	end = skipPlain(b, i+1)
	return end + 1, end < len(b) && b[end] == '"'
}

// skipString is Skip of a string.
func skipString(b []byte, i int) (end int, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	for i++; ; i++ {
		i = skipPlain(b, i)
		switch {
		case i >= len(b):
			return i, false
		case b[i] == '"':
			return i + 1, true
		case b[i] != '\\' || i+1 >= len(b):
			return i, false
		}
		i++
		switch b[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			for k := 1; k <= 4; k++ {
				if i+k >= len(b) || !isHex(b[i+k]) {
					return min(i+k, len(b)), false
				}
			}
			i += 4
		default:
			return i, false
		}
	}
}

// skipPlain is the first place from i on of a quote, a backslash or a control character. It looks
// at eight bytes at once: what is subtracted from a byte below it sets the byte's highest bit. That
// may carry into higher bytes, of which none is then the first.
func skipPlain(b []byte, i int) int {
	const each = 0x0101_0101_0101_0101
	for ; i+8 <= len(b); i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])
		quote, slash := v^'"'*each, v^'\\'*each
		is := (v-' '*each)&^v | (quote-each)&^quote | (slash-each)&^slash
		if is &= 0x80 * each; is != 0 {
			return i + bits.TrailingZeros64(is)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func skipNumber(b []byte, i int) (end int, ok bool) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	default:
		if i, ok = skipDigits(b, i); !ok {
			return i, false
		}
	}
	if i < len(b) && b[i] == '.' {
		if i, ok = skipDigits(b, i+1); !ok {
			return i, false
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return skipDigits(b, i)
	}
	return i, true
}

// skipDigits skips one digit at least.
func skipDigits(b []byte, i int) (end int, ok bool) {
	for ; i < len(b) && '0' <= b[i] && b[i] <= '9'; i++ {
		ok = true
	}
	return i, ok
}

// AppendUnquoted appends what a string, given with its quotes, stands for. It must be valid.
func AppendUnquoted(to, quoted []byte) []byte {
	inside := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return append(to, inside...)
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is valid
	return append(to, s...)
}
