package session

import (
	"regexp"

	"dyno/internal/engine/scenario"
)

// A pattern is a regular expression.
type pattern struct {
	*regexp.Regexp
	size int // instructions
}

func newPattern(re *regexp.Regexp) *pattern {
	return &pattern{re, scenario.Instructions(re)}
}

// patternFor is the regular expression of an argument, if it does not take too many steps in a
// text.
func (w *worker) patternFor(x *user, a *arg, text []byte) (*pattern, error) {
	p := a.re
	if p == nil {
		b, err := w.textOf(x, a)
		if err != nil {
			return nil, err
		}
		re, instructions, err := scenario.CompilePattern(string(b))
		if err != nil {
			return nil, err
		}
		p = &pattern{re, instructions}
	}
	if len(text) > scenario.MaxSteps/p.size {
		return nil, w.scratch.exceed()
	}
	w.scratch.steps += p.size * len(text)
	return p, nil
}
