package format

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"dyno/internal/lazyregexp"
)

// A Paint is what a Style writes where a colour begins or ends, before the number of the colour.
// Visible makes the colour of it. It is drawn anew for each use, so that nobody whose words are in
// the text can paint. The zero value paints nothing.
//
// Only colours with this mark pass the filter (Visible). A filter that let every colour pass could
// not tell whose it is. To filter before painting would be forgotten at one of many places.
type Paint string

// NewPaint is one that nobody knows.
func NewPaint() Paint { return Paint("\x1b" + rand.Text() + "-") }

// colours are the numbers that a Style paints with.
var colours = lazyregexp.New(`^(?:0|1|31|32|33)m`)

// Visible is text in which nothing is left that a terminal would obey or that changes the order
// of characters: each such character is written as JSON writes it, \u001b, so that JSON keeps
// its meaning, and a byte that is no UTF-8 as \x9b. Ends of lines and tabs stay. What a Style
// has painted with this Paint is in colours.
func Visible(text []byte, paint Paint) []byte {
	if isHarmless(text) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		if rest, painted := bytes.CutPrefix(text, []byte(paint)); painted && paint != "" {
			if number := colours().Find(rest); number != nil {
				out, text = append(append(out, "\x1b["...), number...), rest[len(number):]
				continue
			}
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case !isCommand(r):
			out = append(out, text[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}

// isHarmless reports whether all of text is ASCII to be printed, which most of it is.
func isHarmless(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool {
		return r >= 0x7f || r < ' ' && r != '\n' && r != '\t'
	})
}

// The joiners that some scripts, and emoji, are written with.
const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'

// isCommand reports whether r is a command to a terminal, or to who lays out text, rather than
// something to be seen.
func isCommand(r rune) bool {
	switch r {
	case '\n', '\t', zeroWidthNonJoiner, zeroWidthJoiner:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
