package jsonpath

import (
	"bytes"
	"fmt"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"dyno/internal/engine/jsonscan"
)

// Limits of a Set.
const (
	MaxSet   = 16 // paths
	setDepth = 16 // steps of a path
)

// A Set is several paths that are looked up in one walk through a text. They have names, indices
// and wildcards only. A Set has the memory of its walks, so it is of one goroutine.
type Set struct {
	paths  [][]setStep
	levels [setDepth]level
}

// A setStep is a step, or all members or elements.
type setStep struct {
	step
	all bool
}

// A level is a container that a walk is in, with the paths that lead into it.
type level struct {
	walk  jsonscan.Walk
	paths uint16 // a bit for each
	n     int    // of the next element
}

// ParseSet parses the paths of a Set.
func ParseSet(texts []string) (*Set, error) {
	if len(texts) > MaxSet {
		return nil, fmt.Errorf("%d JSON paths are given; %d are possible", len(texts), MaxSet)
	}
	s := &Set{}
	for _, text := range texts {
		if len(text) > longest {
			return nil, fmt.Errorf("the JSON path is longer than %d bytes", longest)
		}
		path, err := jsonpath.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no JSON path, as $.choices[*].delta: %w", text, err)
		}
		var steps []setStep
		for _, segment := range path.Query().Segments() {
			one, ok := setStepOf(segment)
			if !ok {
				return nil, fmt.Errorf("%q has %s: write names, indices and * only", text, segment)
			}
			steps = append(steps, one)
		}
		if len(steps) > setDepth {
			return nil, fmt.Errorf("%q has more than %d steps", text, setDepth)
		}
		s.paths = append(s.paths, steps)
	}
	return s, nil
}

// setStepOf is a segment that selects one child, or all.
func setStepOf(s *spec.Segment) (one setStep, ok bool) {
	if one.step, ok = stepOf(s); ok {
		return one, true
	}
	if s.IsDescendant() || len(s.Selectors()) != 1 {
		return one, false
	}
	_, one.all = s.Selectors()[0].(spec.WildcardSelector)
	return one, one.all
}

// Select sets values[i] to the text of what path i selects in body: the first value that IsSet, or
// the last one; nil if it selects none. values has a place for each path. The error is ErrNotJSON
// if body is not one JSON value.
func (s *Set) Select(values [][]byte, body []byte) error {
	clear(values)
	all := uint16(1)<<len(s.paths) - 1
	at, depth, ok := s.enter(values, body, jsonscan.Space(body, 0), all, 0)
	for ok && depth > 0 {
		l := &s.levels[depth-1]
		if !l.walk.Next() {
			at, ok = l.walk.At, l.walk.Ended
			if depth--; depth > 0 {
				s.levels[depth-1].walk.At = at
			}
			continue
		}
		on := s.follow(l, depth-1)
		if l.n++; on == 0 { // nearly always
			if at, ok = jsonscan.Skip(body, l.walk.At); ok {
				l.walk.At = at
			}
			continue
		}
		if at, depth, ok = s.enter(values, body, l.walk.At, on, depth); l == &s.levels[max(depth, 1)-1] {
			l.walk.At = at
		}
	}
	if !ok || jsonscan.Space(body, at) < len(body) {
		return ErrNotJSON
	}
	return nil
}

// enter looks at the value at body[i], to which depth steps of some paths have led. It goes into a
// container if one of them goes on there, and else to the end of the value.
func (s *Set) enter(values [][]byte, body []byte, i int, on uint16, depth int) (at, now int,
	ok bool) {
	further := uint16(0)
	for k, path := range s.paths {
		switch {
		case on&(1<<k) == 0:
		case len(path) > depth:
			further |= 1 << k
		case !IsSet(values[k]):
			end, _ := jsonscan.Skip(body, i)
			values[k] = body[i:end]
		}
	}
	if further == 0 || i >= len(body) || body[i] != '{' && body[i] != '[' {
		at, ok = jsonscan.Skip(body, i)
		return at, depth, ok
	}
	s.levels[depth] = level{paths: further,
		walk: jsonscan.Walk{Text: body, Object: body[i] == '{', At: i + 1}}
	return i, depth + 1, true
}

// follow is which of a level's paths lead to its present member or element.
func (s *Set) follow(l *level, depth int) (on uint16) {
	var name []byte // of a member
	if l.walk.Object {
		if name = l.walk.Key[1 : len(l.walk.Key)-1]; bytes.IndexByte(name, '\\') >= 0 {
			name = jsonscan.AppendUnquoted(nil, l.walk.Key)
		}
	}
	for k, path := range s.paths {
		if l.paths&(1<<k) == 0 {
			continue
		}
		switch one := &path[depth]; {
		case one.all, l.walk.Object && one.name != nil && string(one.name) == string(name),
			!l.walk.Object && one.name == nil && one.index == l.n:
			on |= 1 << k
		}
	}
	return on
}

// IsSet reports whether a value is there and says something: it is not null, false, an empty
// string, list or object.
func IsSet(value []byte) bool {
	if len(value) == 0 || value[0] == 'n' || value[0] == 'f' {
		return false
	}
	if value[0] != '"' && value[0] != '[' && value[0] != '{' {
		return true
	}
	return len(bytes.TrimSpace(value[1:len(value)-1])) > 0 || value[0] == '"' && len(value) > 2
}
