package say

import (
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// Start is Sentence as a text begins with it: in a capital letter, unless it begins with a text of
// the fact, which may be a name, or what somebody else said.
func Start(f fact.Fact) string {
	s := Sentence(f)
	if beginsWithText(f, s) {
		return s
	}
	return digits.Capital(s)
}

// beginsWithText reports whether the sentence of a fact begins with one of its texts.
func beginsWithText(f fact.Fact, s string) (begins bool) {
	look := func(text string) string {
		rest, is := strings.CutPrefix(s, text)
		begins = begins || text != "" && is && (rest == "" || strings.ContainsAny(rest[:1], " :,"))
		return text
	}
	look(f.Scope.Group)
	f.ReplaceTexts(look)
	return begins
}
