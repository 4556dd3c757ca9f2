package template

import (
	"math/rand/v2"
	"strconv"
	"time"
	"unicode/utf8"
)

// Facts are what the holes of one message are filled from. A worker uses the same ones again.
type Facts struct {
	Rand *rand.Rand // the user's
	Seq  int64      // of the iteration: see scenario.Numbering
	Due  int64      // when it was due, in ns since the Unix epoch

	second   int64    // whose text is inSecond
	inSecond [20]byte // "2006-01-02T15:04:05.", for many messages are due in one second
}

// nowLayout shows the form of {{now}}. Its length is fixed. Microseconds are what databases keep,
// and every reader of RFC 3339 takes them.
const nowLayout = "2006-01-02T15:04:05.000000Z"

const digits = "0123456789abcdef"

// Append appends what fills a hole. Columns and captures are the caller's; it appends nothing for
// them.
func (s Source) Append(b []byte, f *Facts) []byte {
	switch s.Kind {
	case UUID:
		return appendUUID(b, f.Rand.Uint64(), f.Rand.Uint64())
	case Int:
		return strconv.AppendInt(b, s.Low+int64(f.upTo(uint64(s.High)-uint64(s.Low))), 10)
	case Hex:
		return appendHex(b, int(s.Low), f.Rand)
	case Seq:
		return strconv.AppendInt(b, f.Seq, 10)
	case Now:
		return f.appendNow(b)
	}
	return b
}

// upTo draws from 0 to n, which is included.
func (f *Facts) upTo(n uint64) uint64 {
	if n+1 == 0 {
		return f.Rand.Uint64()
	}
	return f.Rand.Uint64N(n + 1)
}

// appendUUID appends a UUID of 122 random bits: version 4, variant 10 (RFC 9562, section 5.4).
func appendUUID(b []byte, high, low uint64) []byte {
	high = high&^0xf000 | 0x4000
	low = low&^(3<<62) | 2<<62
	b = append(appendNibbles(b, high>>32, 8), '-')
	b = append(appendNibbles(b, high>>16, 4), '-')
	b = append(appendNibbles(b, high, 4), '-')
	b = append(appendNibbles(b, low>>48, 4), '-')
	return appendNibbles(b, low, 12)
}

// appendNibbles appends the lowest n digits of v.
func appendNibbles(b []byte, v uint64, n int) []byte {
	var text [16]byte
	for i := n - 1; i >= 0; i-- {
		text[i] = digits[v&15]
		v >>= 4
	}
	return append(b, text[:n]...)
}

func appendHex(b []byte, n int, r *rand.Rand) []byte {
	for ; n > 16; n -= 16 {
		b = appendNibbles(b, r.Uint64(), 16)
	}
	return appendNibbles(b, r.Uint64(), n)
}

// appendNow appends Due in the form of nowLayout.
func (f *Facts) appendNow(b []byte) []byte {
	if second := f.Due / 1e9; second != f.second || f.inSecond[0] == 0 {
		f.second = second
		time.Unix(second, 0).UTC().AppendFormat(f.inSecond[:0], nowLayout[:20])
	}
	b = append(b, f.inSecond[:]...)
	return append(appendDecimal(b, int(f.Due%1e9/1000), 6), 'Z')
}

// appendDecimal appends v with n digits.
func appendDecimal(b []byte, v, n int) []byte {
	var text [8]byte
	for i := n - 1; i >= 0; i-- {
		text[i] = byte('0' + v%10)
		v /= 10
	}
	return append(b, text[:n]...)
}

// AppendJSON appends a text as a string of JSON, with its quotes. What is no UTF-8 becomes U+FFFD.
func AppendJSON(b, text []byte) []byte {
	b = append(b, '"')
	for len(text) > 0 {
		c := text[0]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRune(text)
			b, text = utf8.AppendRune(b, r), text[size:]
			continue
		}
		text = text[1:]
	}
	return append(b, '"')
}
