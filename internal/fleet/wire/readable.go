package wire

import (
	"strings"
	"unicode"
)

// readableMax is how many characters Readable returns at most.
const readableMax = 500

// Readable makes untrusted text fit for a terminal: on one line, printable and limited in length.
func Readable(s string) string {
	runes := []rune(strings.ToValidUTF8(s[:min(len(s), 4*readableMax)], "?"))
	for i, c := range runes {
		if !unicode.IsPrint(c) {
			runes[i] = ' '
		}
	}
	return string(runes[:min(len(runes), readableMax)])
}
