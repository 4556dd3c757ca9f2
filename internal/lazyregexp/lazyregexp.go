// Package lazyregexp has regular expressions that are compiled at their first use. Most commands
// need few of dyno's hundred, and compiling all of them took a third of the time of a start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles expr when it is first called. Goroutines may share it. It
// panics if expr is not valid; a test of the module compiles each (TestRegularExpressions).
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
