package jsonpath

import (
	"bytes"
	"fmt"
	"math/bits"

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
	paths  int
	depths [setDepth + 1]depth
	levels [setDepth]level
}

// A depth is what paths have behind so many steps. Each member of masks has a bit for each path.
type depth struct {
	ends    uint16 // paths that have no more steps
	all     uint16 // paths that go on with all members or elements
	names   []choice
	indices []choice
}

// A choice is a step that some paths have at a depth.
type choice struct {
	step
	paths uint16
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
	s := &Set{paths: len(texts)}
	for i, text := range texts {
		if len(text) > longest {
			return nil, fmt.Errorf("the JSON path is longer than %d bytes", longest)
		}
		path, err := jsonpath.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no JSON path, as $.choices[*].delta: %w", text, err)
		}
		segments := path.Query().Segments()
		if len(segments) > setDepth {
			return nil, fmt.Errorf("%q has more than %d steps", text, setDepth)
		}
		for k, segment := range segments {
			if !s.depths[k].add(segment, 1<<i) {
				return nil, fmt.Errorf("%q has %s: write names, indices and * only", text, segment)
			}
		}
		s.depths[len(segments)].ends |= 1 << i
	}
	return s, nil
}

// add adds a step of a path. It reports whether that selects one child, or all.
func (d *depth) add(s *spec.Segment, path uint16) bool {
	one, ok := stepOf(s)
	switch {
	case ok && one.name != nil:
		d.names = withChoice(d.names, one, path)
	case ok:
		d.indices = withChoice(d.indices, one, path)
	case s.IsDescendant() || len(s.Selectors()) != 1:
		return false
	default:
		if _, ok = s.Selectors()[0].(spec.WildcardSelector); ok {
			d.all |= path
		}
	}
	return ok
}

// withChoice adds a path to the choice of that step. Each step stands once.
func withChoice(all []choice, one step, path uint16) []choice {
	for i := range all {
		if bytes.Equal(all[i].name, one.name) && all[i].index == one.index {
			all[i].paths |= path
			return all
		}
	}
	return append(all, choice{one, path})
}

// Select sets values[i] to the text of what path i selects in body: the first value that IsSet, or
// the last one; nil if it selects none. values has a place for each path. The error is ErrNotJSON
// if body is not one JSON value.
func (s *Set) Select(values [][]byte, body []byte) error {
	clear(values)
	all := uint16(1)<<s.paths - 1
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
	ended, end := on&s.depths[depth].ends, i
	for left := ended; left != 0; left &= left - 1 {
		if k := bits.TrailingZeros16(left); !IsSet(values[k]) {
			if end == i {
				end, _ = jsonscan.Skip(body, i)
			}
			values[k] = body[i:end]
		}
	}
	further := on &^ ended
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
	d := &s.depths[depth]
	on = d.all
	if !l.walk.Object {
		for i := range d.indices {
			if c := &d.indices[i]; c.index == l.n {
				on |= c.paths
			}
		}
		return on & l.paths
	}
	name := l.walk.Key[1 : len(l.walk.Key)-1]
	if l.walk.Escaped {
		name = jsonscan.AppendUnquoted(nil, l.walk.Key)
	}
	for i := range d.names {
		if c := &d.names[i]; string(c.name) == string(name) {
			on |= c.paths
			break
		}
	}
	return on & l.paths
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
