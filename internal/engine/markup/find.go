// Package markup finds values in XML and HTML by XPath 1.0.
//
// The library's compiled expressions are iterators: two threads that evaluate one at a time move
// each other's, and a number, as (//a)[2] * 1, is another one the second time. So each worker has a
// Finder, and what is no set of nodes is evaluated as the argument of a function, of which the
// library makes a copy each time.
//
//	find.go       expressions and their values
//	document.go   the trees of XML and HTML, within the limits of engine/scenario/limits.go
//	steps.go      counts the steps of a search
package markup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/antchfx/xpath"

	"dyno/internal/engine/scenario"
)

// Limits of expressions, which may be made of what a server has sent. The library's parser calls
// itself for each bracket, and a compiled expression takes some 100 times its length.
const (
	longestExpression = 16 << 10
	keptExpressions   = 256 << 10 // bytes of the expressions that a Finder has compiled
)

// A Finder evaluates the expressions of one worker. The zero value works.
type Finder struct {
	compiled map[string]*expression // by text and namespaces
	size     int                    // of the keys
	key      []byte

	Steps int // of the last search
}

// An expression is what a text is compiled to.
type expression struct {
	set    *xpath.Expr // of nodes; nil: it is none
	scalar *xpath.Expr
}

// Nodes is how many nodes an expression selects.
type Nodes int

// Check reports what is wrong with an expression. Whether its prefixes are known, only a document
// tells.
func Check(text string) error {
	if _, err := compile(text, map[string]string{}); err != nil &&
		!strings.Contains(err.Error(), "prefix") {
		return err
	}
	return nil
}

// Find is the value of an expression in a document: Nodes, a float64, a bool or a string. The error
// is scenario.ErrLimits if it takes too many steps.
func (f *Finder) Find(d *Document, text []byte) (v any, err error) {
	defer func() { // the library panics on some expressions
		if p := recover(); p == scenario.ErrLimits {
			err = scenario.ErrLimits
		} else if p != nil {
			err = errors.New("the XPath expression cannot be evaluated")
		}
	}()
	f.Steps = 0
	e, err := f.expression(d, text)
	if err != nil {
		return nil, err
	}
	left := scenario.MaxSteps
	defer func() { f.Steps = scenario.MaxSteps - left }()
	root := &counted{d.root.Copy(), &left}
	if e.set == nil {
		return e.scalar.Evaluate(root), nil
	}
	n := Nodes(0)
	for all := e.set.Select(root); all.MoveNext(); {
		n++
	}
	return n, nil
}

// expression is a compiled text. It is compiled once for documents with the same namespaces.
func (f *Finder) expression(d *Document, text []byte) (*expression, error) {
	f.key = append(f.key[:0], text...)
	for _, s := range d.spaces {
		f.key = append(append(append(append(f.key, 0), s.prefix...), 0), s.uri...)
	}
	if e := f.compiled[string(f.key)]; e != nil {
		return e, nil
	}
	spaces := map[string]string{}
	for _, s := range d.spaces {
		spaces[s.prefix] = s.uri
	}
	e, err := compile(string(text), spaces)
	if err != nil {
		return nil, err
	}
	if f.size += len(f.key); f.compiled == nil || f.size > keptExpressions {
		f.compiled, f.size = map[string]*expression{}, len(f.key)
	}
	f.compiled[string(f.key)] = e
	return e, nil
}

func compile(text string, spaces map[string]string) (*expression, error) {
	if len(text) > longestExpression {
		return nil, fmt.Errorf("the XPath expression is longer than %d bytes", longestExpression)
	}
	if name := unbounded(text); name != "" {
		return nil, fmt.Errorf("%s() is no function of XPath 1.0; use a filter of Hurl, such as "+
			"regex or replace", name)
	}
	e, err := xpath.CompileWithNS(text, spaces)
	if err != nil {
		return nil, err
	}
	function := typeOf(e)
	if function == "" {
		return &expression{set: e}, nil
	}
	e, err = xpath.CompileWithNS(function+"("+text+")", spaces)
	return &expression{scalar: e}, err
}

// unbounded is the first function of an expression that the library has beyond XPath 1.0, and whose
// memory or time has no limit: it keeps patterns for good in a cache of all threads, and puts texts
// of a response into each other. "": it has none.
func unbounded(text string) (name string) {
	for text != "" {
		if q := text[0]; q == '"' || q == '\'' {
			_, text, _ = strings.Cut(text[1:], string(q))
			continue
		}
		n := 0
		for n < len(text) && isNamed(text[n]) {
			n++
		}
		name, text = text[:n], text[max(n, 1):]
		if name == "matches" || name == "replace" || name == "string-join" {
			if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "(") {
				return name
			}
		}
	}
	return ""
}

// isNamed reports whether a byte may be a part of a name.
func isNamed(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80 ||
		b == '_' || b == '-' || b == '.'
}

// typeOf is the function that leaves the value of an expression as it is; "" if that is a set of
// nodes. The type of a value does not depend on the document.
func typeOf(e *xpath.Expr) (function string) {
	defer func() {
		if p := recover(); p != nil {
			function = "string" // which panics likewise
		}
	}()
	smallest, err := XML([]byte("<a/>"))
	if err != nil {
		return ""
	}
	switch e.Evaluate(smallest.root.Copy()).(type) {
	case float64:
		return "number"
	case bool:
		return "boolean"
	case string:
		return "string"
	}
	return ""
}
