package report

import (
	"bytes"
	"fmt"
	"regexp"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// colours are the sequences that a Style paints with.
var colours = regexp.MustCompile(`^\x1b\[(?:0|1|31|32|33)m`)

// Visible is text in which nothing is left that a terminal would obey or that changes the order
// of characters: each such character is written as JSON writes it, \u001b, so that JSON keeps
// its meaning, and a byte that is no UTF-8 as \x9b. Ends of lines and tabs stay; so do, where
// there may be colours, the five sequences that a Style paints with.
func Visible(text []byte, coloured bool) []byte {
	if harmless(text) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		if coloured && text[0] == '\x1b' {
			if paint := colours.Find(text); paint != nil {
				out, text = append(out, paint...), text[len(paint):]
				continue
			}
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case !commands(r):
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

// harmless reports whether all of text is ASCII to be printed, which most of it is.
func harmless(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool {
		return r >= 0x7f || r < ' ' && r != '\n' && r != '\t'
	})
}

// The joiners that some scripts, and emoji, are written with.
const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'

// commands reports whether r is a command to a terminal, or to who lays out text, rather than
// something to be seen.
func commands(r rune) bool {
	switch r {
	case '\n', '\t', zeroWidthNonJoiner, zeroWidthJoiner:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
