// Package source has the text of an experiment's file: where something stands in it, and its YAML.
//
//	source.go   positions in the text
//	yaml.go     the only document of a file, or why there is none
package source

import (
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A Text is the text of a file and where its lines begin.
type Text struct {
	text   string // without a byte order mark
	starts []int  // offsets
}

// A Place is a position in a file, from 1, in characters.
type Place struct{ Line, Column int }

// New is the Text of a file.
func New(text []byte) Text {
	s := Text{text: strings.TrimPrefix(string(text), "\ufeff"), starts: []int{0}}
	for i := 0; i < len(s.text); {
		n := lineBreak(s.text[i:])
		if n > 0 {
			s.starts = append(s.starts, i+n)
		}
		i += max(n, 1)
	}
	return s
}

// lineBreak is the length of the line break at the beginning of s; 0: there is none. YAML has more
// kinds of line breaks than most formats.
func lineBreak(s string) int {
	for _, b := range []string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if strings.HasPrefix(s, b) {
			return len(b)
		}
	}
	return 0
}

// At is the place of an offset.
func (s Text) At(offset int) Place {
	line := sort.SearchInts(s.starts, offset+1)
	return Place{line, 1 + utf8.RuneCountInString(s.text[s.starts[line-1]:offset])}
}

// Lines are the lines from first up to, but not including, last, which may be past the end.
func (s Text) Lines(first, last int) string {
	if first > len(s.starts) {
		return ""
	}
	end := len(s.text)
	if last <= len(s.starts) {
		end = s.starts[last-1]
	}
	return s.text[s.starts[first-1]:end]
}

// Fragment is the place of the nth fragment in the text of node n, counted from 0. If the
// fragment is not written literally there, it is the place of n.
func (s Text) Fragment(n *yaml.Node, fragment string, nth int) Place {
	at := Place{n.Line, n.Column}
	if n.Kind != yaml.ScalarNode || n.Line > len(s.starts) {
		return at
	}
	window := s.Lines(n.Line, n.Line+strings.Count(n.Value, "\n")+3)
	offset := 0
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(window[offset:])
		offset += size
	}
	for ; ; nth-- {
		i := strings.Index(window[offset:], fragment)
		switch {
		case i < 0:
			return at
		case nth == 0:
			return s.At(s.starts[n.Line-1] + offset + i)
		}
		offset += i + len(fragment)
	}
}
