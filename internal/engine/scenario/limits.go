package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Limits of what checks and captures make of a response. A server chooses it, and libraries call
// themselves for each level of a tree: a stack that overflows ends the program.
const (
	MaxLevels = 256     // of XML, HTML and JSON; libxml2, which is in hurl, allows as many
	MaxNodes  = 50_000  // elements, attributes, texts and values
	MaxSteps  = 1 << 25 // of one search: an instruction of a regular expression for a byte
	MaxText   = 4 << 20 // bytes of what a filter makes of a text
	NodeSteps = 32      // steps that one move in a tree counts as
)

// ErrLimits is why a response is not searched: it exceeds one of the limits.
var ErrLimits = errors.New(JudgedWithin)

// JudgedWithin is the name of a check that a scenario has besides, too: that no other exceeded the
// limits. It is counted only where it fails.
var JudgedWithin = fmt.Sprintf("response within %d levels, %d nodes and %d steps of a search",
	MaxLevels, MaxNodes, MaxSteps)

// Instructions is how many a regular expression is compiled to. In the worst case each looks at
// each byte of a text.
func Instructions(re *regexp.Regexp) int {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return MaxSteps // it was parsed before
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return MaxSteps
	}
	return len(program.Inst)
}

// maxInstructions is how many a regular expression may be compiled to that a server has written: of
// 2 KiB of text, with repetitions in repetitions, package regexp makes three million.
const maxInstructions = 10_000

// MaxPattern is how many bytes such an expression may have.
const MaxPattern = 2 << 10

// CompilePattern compiles a regular expression that a server may have written, and returns how many
// instructions it has.
func CompilePattern(text string) (re *regexp.Regexp, instructions int, err error) {
	if len(text) > MaxPattern {
		return nil, 0, fmt.Errorf("the regular expression is longer than %d bytes", MaxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	if weightOf(tree) > maxInstructions {
		return nil, 0, fmt.Errorf("the regular expression has more than %d instructions",
			maxInstructions)
	}
	if re, err = regexp.Compile(text); err != nil {
		return nil, 0, err
	}
	return re, Instructions(re), nil
}

// weightOf is about how many instructions an expression is compiled to; if it is more than the
// limit, it is some number above that.
func weightOf(e *syntax.Regexp) (n int) {
	for _, sub := range e.Sub {
		n = min(n+weightOf(sub), maxInstructions+1)
	}
	switch e.Op {
	case syntax.OpLiteral:
		n = len(e.Rune)
	case syntax.OpRepeat:
		n *= max(e.Min, e.Max) + 1
	}
	return min(n+2, maxInstructions+1)
}

// JSONFits reports whether a JSON text is within the limits of a tree.
func JSONFits(text []byte) bool {
	levels, _ := MeasureJSON(text)
	return levels >= 0
}

// MeasureJSON returns how many levels and values a JSON text has at most; -1: they exceed the
// limits.
func MeasureJSON(text []byte) (levels, values int) {
	level := 0
	values = 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			level++
			values++
			levels = max(levels, level)
		case ']', '}':
			level--
		case ',':
			values++
		}
		if level > MaxLevels || values > MaxNodes {
			return -1, -1
		}
	}
	return levels, values
}
