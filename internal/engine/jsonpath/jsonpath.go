// Package jsonpath finds values in JSON by paths of RFC 9535, such as $.items[0].id.
//
// Library theory/jsonpath parses paths: it passes the whole compliance test suite of the RFC. It
// looks for values in decoded JSON, which takes ten times as long as to walk through the text, and
// allocates. So a path of names and indices, as nearly all are, is looked up in the text.
package jsonpath

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"dyno/internal/engine/jsonscan"
)

// A Path is a parsed path. It does not change.
type Path struct {
	text    string
	steps   []step
	general *jsonpath.Path // nil: the steps are all
}

// A step is a member's name or, if the name is nil, an element's index.
type step struct {
	name  []byte
	index int
}

// Parse parses a path.
func Parse(text string) (*Path, error) {
	path, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no JSON path, as $.items[0].id: %w", text, err)
	}
	p := &Path{text: text}
	for _, segment := range path.Query().Segments() {
		one, ok := stepOf(segment)
		if !ok {
			p.general = path
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
// that a path selects together are in no order. It reports whether body is one JSON value.
func (p *Path) Select(to [][]byte, body []byte) (values [][]byte, ok bool) {
	if p.general != nil {
		return p.selectGeneral(to, body)
	}
	var found []byte
	end, ok := find(body, jsonscan.Space(body, 0), p.steps, &found)
	if !ok || jsonscan.Space(body, end) < len(body) {
		return to, false
	}
	if found != nil {
		to = append(to, found)
	}
	return to, true
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
		if w.Object && isName(w.Key, next.name) || !w.Object && n == next.index {
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

// isName reports whether key, with its quotes, stands for a name.
func isName(key, name []byte) bool {
	inside := key[1 : len(key)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return bytes.Equal(inside, name)
	}
	return bytes.Equal(jsonscan.AppendUnquoted(nil, key), name)
}

func (p *Path) selectGeneral(to [][]byte, body []byte) (values [][]byte, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // numbers stay as they are written
	var all any
	if d.Decode(&all) != nil || jsonscan.Space(body, int(d.InputOffset())) < len(body) {
		return to, false
	}
	for _, v := range p.general.Select(all) {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if e.Encode(v) != nil {
			return to, false // what was decoded can be encoded
		}
		to = append(to, bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	}
	return to, true
}
