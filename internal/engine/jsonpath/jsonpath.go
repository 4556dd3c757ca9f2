// Package jsonpath finds values in JSON by paths of RFC 9535, such as $.items[0].id.
//
// Library theory/jsonpath parses paths: it passes the whole compliance test suite of the RFC. It
// looks for values in decoded JSON, which takes ten times as long as to walk through the text, and
// allocates. So a path of names and indices, as nearly all are, is looked up in the text.
//
//	jsonpath.go   a Path: looked up in the text or, if it has more, by the library, within limits
//	patterns.go   the functions match and search of a path, with limits
//	set.go        a Set: several paths, looked up in one walk through the text
package jsonpath

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"dyno/internal/engine/jsonscan"
	"dyno/internal/engine/scenario"
)

// ErrNotJSON is the error of a body that is not one JSON value.
var ErrNotJSON = errors.New("the body is no JSON")

// A Path is a parsed path. It does not change.
type Path struct {
	text    string
	steps   []step
	general *jsonpath.Path // nil: the steps are all
	shape   shape          // of general
	// matchers look for what general selects if it has the functions match or search; else nil.
	matchers *sync.Pool
}

// A step is a member's name or, if the name is nil, an element's index.
type step struct {
	name  []byte
	index int
}

// longest is how many bytes a path may have, which may be made of what a server has sent: the
// library's parser calls itself for each bracket.
const longest = 16 << 10

// Parse parses a path.
func Parse(text string) (*Path, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("the JSON path is longer than %d bytes", longest)
	}
	path, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no JSON path, as $.items[0].id: %w", text, err)
	}
	p := &Path{text: text}
	for _, segment := range path.Query().Segments() {
		one, ok := stepOf(segment)
		if !ok && p.general == nil {
			p.general, p.shape, p.matchers = path, shapeOf(text), matchersOf(text)
		}
		p.steps = append(p.steps, one)
	}
	return p, nil
}

// stepOf is a segment that selects one child, counted from the beginning.
func stepOf(s *spec.Segment) (one step, ok bool) {
	if s.IsDescendant() || len(s.Selectors()) != 1 {
		return one, false
	}
	switch by := s.Selectors()[0].(type) {
	case spec.Name:
		return step{name: append([]byte{}, by...)}, true
	case spec.Index:
		return step{index: int(by)}, by >= 0
	}
	return one, false
}

// String is the path as it was written.
func (p *Path) String() string { return p.text }

// Select appends the JSON text of each value that the path selects in body. Members of an object
// that a path selects together are in no order. The error is ErrNotJSON if body is not one JSON
// value, and scenario.ErrLimits if it takes more than them to decode or search it.
func (p *Path) Select(to [][]byte, body []byte) (values [][]byte, err error) {
	if p.general != nil {
		return p.selectGeneral(to, body)
	}
	var found []byte
	end, ok := find(body, jsonscan.Space(body, 0), p.steps, &found)
	if !ok || jsonscan.Space(body, end) < len(body) {
		return to, ErrNotJSON
	}
	if found != nil {
		to = append(to, found)
	}
	return to, nil
}

// find walks through the value at b[i]. It sets found to what the steps lead to, the last of
// members with the same name: that is what decoded JSON has.
func find(b []byte, i int, steps []step, found *[]byte) (end int, ok bool) {
	*found = nil
	if len(steps) == 0 {
		end, ok = jsonscan.Skip(b, i)
		*found = b[i:end]
		return end, ok
	}
	next := &steps[0]
	if i >= len(b) || next.name != nil && b[i] != '{' || next.name == nil && b[i] != '[' {
		return jsonscan.Skip(b, i)
	}
	w := jsonscan.Walk{Text: b, Object: b[i] == '{', At: i + 1}
	for n := 0; w.Next(); n++ {
		if w.Object && isName(&w, next.name) || !w.Object && n == next.index {
			w.At, ok = find(b, w.At, steps[1:], found)
		} else {
			w.At, ok = jsonscan.Skip(b, w.At)
		}
		if !ok {
			return w.At, false
		}
	}
	return w.At, w.Ended
}

// isName reports whether the key of a member stands for a name.
func isName(w *jsonscan.Walk, name []byte) bool {
	if w.Escaped {
		return bytes.Equal(jsonscan.AppendUnquoted(nil, w.Key), name)
	}
	return bytes.Equal(w.Key[1:len(w.Key)-1], name)
}

// mostSelected is how many bytes of values a path selects at most: each level of a tree may have
// all that is below it again.
const mostSelected = 16 << 20

// mostLookedAt is how many values a search looks at, at most. The library may list all of them.
const mostLookedAt = 10 * scenario.MaxNodes

func (p *Path) selectGeneral(to [][]byte, body []byte) (values [][]byte, err error) {
	levels, size := scenario.MeasureJSON(body)
	if levels < 0 || p.shape.steps(levels, size) > mostLookedAt {
		return to, scenario.ErrLimits
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // numbers stay as they are written
	var all any
	if d.Decode(&all) != nil || jsonscan.Space(body, int(d.InputOffset())) < len(body) {
		return to, ErrNotJSON
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	found, err := p.search(all)
	if err != nil {
		return to, err
	}
	if len(found) > scenario.MaxNodes {
		return to, scenario.ErrLimits
	}
	for _, v := range found {
		from := text.Len()
		if e.Encode(v) != nil {
			return to, ErrNotJSON // what was decoded can be encoded
		}
		if text.Len() > mostSelected {
			return to, scenario.ErrLimits
		}
		// If text moves to other memory, the values before stay where they are.
		to = append(to, bytes.TrimSuffix(text.Bytes()[from:], []byte("\n")))
	}
	return to, nil
}

// search is what a path that is not looked up in the text selects in decoded JSON.
func (p *Path) search(all any) (found []any, err error) {
	if p.matchers != nil {
		m := p.matchers.Get().(*matcher)
		defer p.matchers.Put(m)
		return m.selectIn(all)
	}
	defer recoverLimits(&err)
	return p.general.Select(all), nil
}

// A shape is what of a path multiplies the work of a search.
type shape struct {
	below, unions int // of .. and of selectors behind a comma
	nested        bool
	absolute      bool // what is nested begins at $
}

// shapeOf is a path's, or more: it looks at text in quotes, too.
func shapeOf(text string) shape {
	_, filter, _ := strings.Cut(text, "?")
	return shape{below: strings.Count(text, ".."), unions: strings.Count(text, ","),
		nested:   strings.ContainsAny(filter, "*?:") || strings.Contains(filter, ".."),
		absolute: strings.Contains(filter, "$")}
}

// steps is how many values a search of a tree looks at, at most.
func (s shape) steps(levels, values int) (n int) {
	n = values
	multiply := func(by int) {
		n = min(n*max(by, 1), mostLookedAt+1)
	}
	for range s.below - 1 {
		multiply(levels)
	}
	for range s.unions {
		multiply(2)
	}
	switch {
	case s.nested && s.absolute:
		multiply(values)
	case s.nested:
		multiply(levels)
	}
	return n
}
