package session

import (
	"fmt"
	"regexp"

	"dyno/internal/engine/scenario"
)

// A pattern is a regular expression.
type pattern struct {
	*regexp.Regexp
	size int // instructions
}

// longestPattern is how many bytes an expression may have that is made during the run, of what a
// server has sent.
const longestPattern = 2 << 10

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
		if len(b) > longestPattern {
			return nil, fmt.Errorf("the regular expression is longer than %d bytes", longestPattern)
		}
		re, err := regexp.Compile(string(b))
		if err != nil {
			return nil, err
		}
		p = newPattern(re)
	}
	if len(text) > scenario.MaxSteps/p.size {
		return nil, w.scratch.exceed()
	}
	return p, nil
}
