package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	mostCaptures = 32  // of a pattern
	deepestMatch = 200 // repetitions and captures of a pattern inside each other
	setBytes     = 16  // of a pattern's set that are looked at in a step
)

// Lengths of captures that have none.
const (
	open     = -1 // its end is not yet known
	position = -2 // it is a place in the text
)

// A capture is a part of the text that a pattern names.
type capture struct{ from, length int }

// A matcher matches one text and one pattern. It counts its steps as instructions.
type matcher struct {
	t             *Machine
	l             *lua.LState
	name          string // of the function
	text, pattern string
	captures      [mostCaptures]capture
	level         int // captures in use
	depth         int
}

func (m *matcher) fail(format string, args ...any) {
	m.l.RaiseError(format, args...)
}

// from matches anew from a place of the text. It returns the end of the match, or -1.
func (m *matcher) from(at, p int) int {
	m.level, m.depth = 0, 0
	return m.match(at, p)
}

// match matches the pattern from p on with the text from s on.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > deepestMatch {
		m.fail("%s: the pattern is too complex: more than %d repetitions or captures", m.name,
			deepestMatch)
	}
	end := m.sequence(s, p)
	m.depth--
	return end
}

func (m *matcher) sequence(s, p int) int {
	for {
		m.t.spend(m.l, m.name, 1)
		if p == len(m.pattern) {
			return s
		}
		switch m.pattern[p] {
		case '(':
			if strings.HasPrefix(m.pattern[p:], "()") {
				return m.start(s, p+2, position)
			}
			return m.start(s, p+1, open)
		case ')':
			return m.end(s, p+1)
		case '$':
			if p+1 == len(m.pattern) {
				if s == len(m.text) {
					return s
				}
				return -1
			}
		case '%':
			if next, after, is := m.special(s, p); is {
				if next < 0 {
					return -1
				}
				s, p = next, after
				continue
			}
		}
		after := m.itemEnd(p)
		one := s < len(m.text) && m.matches(m.text[s], p, after)
		switch m.at(after) {
		case '*':
			return m.longest(s, p, after)
		case '+':
			if !one {
				return -1
			}
			return m.longest(s+1, p, after)
		case '-':
			return m.shortest(s, p, after)
		case '?':
			if one {
				if end := m.match(s+1, after+1); end >= 0 {
					return end
				}
			}
			p = after + 1
			continue
		}
		if !one {
			return -1
		}
		s, p = s+1, after
	}
}

// at is a byte of the pattern; 0 beyond its end.
func (m *matcher) at(p int) byte {
	if p < len(m.pattern) {
		return m.pattern[p]
	}
	return 0
}

// special matches %b, %f and %1. is is false if something else stands there.
func (m *matcher) special(s, p int) (next, after int, is bool) {
	switch c := m.at(p + 1); {
	case c == 'b':
		if p+3 >= len(m.pattern) {
			m.fail("unbalanced pattern")
		}
		return m.balanced(s, m.pattern[p+2], m.pattern[p+3]), p + 4, true
	case c == 'f':
		if p += 2; m.at(p) != '[' {
			m.fail("missing '[' after '%%f' in pattern")
		}
		after = m.itemEnd(p)
		before, here := byte(0), byte(0)
		if s > 0 {
			before = m.text[s-1]
		}
		if s < len(m.text) {
			here = m.text[s]
		}
		if m.matches(before, p, after) || !m.matches(here, p, after) {
			return -1, 0, true
		}
		return s, after, true
	case c >= '0' && c <= '9':
		n := int(c - '1')
		if n < 0 || n >= m.level || m.captures[n].length == open {
			m.fail("invalid capture index")
		}
		again := m.text[m.captures[n].from:][:max(m.captures[n].length, 0)]
		m.t.spend(m.l, m.name, len(again)/setBytes)
		if !strings.HasPrefix(m.text[s:], again) {
			return -1, 0, true
		}
		return s + len(again), p + 2, true
	}
	return 0, 0, false
}

// balanced is where a text ends that begins with one byte and ends with its counterpart.
func (m *matcher) balanced(s int, first, last byte) int {
	if s >= len(m.text) || m.text[s] != first {
		return -1
	}
	nested := 1
	for i := s + 1; i < len(m.text); i++ {
		m.t.spend(m.l, m.name, 1)
		switch c := m.text[i]; {
		case c == last:
			if nested--; nested == 0 {
				return i + 1
			}
		case c == first:
			nested++
		}
	}
	return -1
}

func (m *matcher) start(s, p, length int) int {
	if m.level >= mostCaptures {
		m.fail("too many captures")
	}
	m.captures[m.level] = capture{s, length}
	m.level++
	end := m.match(s, p)
	if end < 0 {
		m.level--
	}
	return end
}

func (m *matcher) end(s, p int) int {
	last := m.level - 1
	for last >= 0 && m.captures[last].length != open {
		last--
	}
	if last < 0 {
		m.fail("invalid pattern capture")
	}
	m.captures[last].length = s - m.captures[last].from
	end := m.match(s, p)
	if end < 0 {
		m.captures[last].length = open
	}
	return end
}

// longest matches as many of an item as the rest of the pattern allows.
func (m *matcher) longest(s, p, after int) int {
	n := 0
	for s+n < len(m.text) && m.matches(m.text[s+n], p, after) {
		m.t.spend(m.l, m.name, 1)
		n++
	}
	for ; n >= 0; n-- {
		if end := m.match(s+n, after+1); end >= 0 {
			return end
		}
	}
	return -1
}

// shortest matches as few of an item as the rest of the pattern allows.
func (m *matcher) shortest(s, p, after int) int {
	for {
		if end := m.match(s, after+1); end >= 0 {
			return end
		}
		if s >= len(m.text) || !m.matches(m.text[s], p, after) {
			return -1
		}
		s++
	}
}

// itemEnd is where the item ends that begins at p: a byte, a class or a set.
func (m *matcher) itemEnd(p int) int {
	c := m.pattern[p]
	p++
	switch c {
	case '%':
		if p == len(m.pattern) {
			m.fail("malformed pattern (ends with '%%')")
		}
		return p + 1
	case '[':
		if m.at(p) == '^' {
			p++
		}
		for first := true; first || m.at(p) != ']'; first = false {
			if p >= len(m.pattern) {
				m.fail("malformed pattern (missing ']')")
			}
			if c := m.pattern[p]; c == '%' && p+1 < len(m.pattern) {
				p++
			}
			p++
			m.t.spend(m.l, m.name, 1)
		}
		return p + 1
	}
	return p
}

// matches reports whether a byte is one of the item from p to after.
func (m *matcher) matches(c byte, p, after int) bool {
	switch m.pattern[p] {
	case '.':
		return true
	case '%':
		return isOfClass(c, m.pattern[p+1])
	case '[':
		m.t.spend(m.l, m.name, (after-p)/setBytes)
		return isInSet(c, m.pattern[p+1:after-1])
	}
	return m.pattern[p] == c
}

// isInSet reports whether a byte is in a set, which is given without its brackets.
func isInSet(c byte, set string) bool {
	wanted := true
	if strings.HasPrefix(set, "^") {
		wanted, set = false, set[1:]
	}
	for i := 0; i < len(set); i++ {
		switch {
		case set[i] == '%' && i+1 < len(set):
			if i++; isOfClass(c, set[i]) {
				return wanted
			}
		case i+2 < len(set) && set[i+1] == '-':
			if set[i] <= c && c <= set[i+2] {
				return wanted
			}
			i += 2
		case set[i] == c:
			return wanted
		}
	}
	return !wanted
}

// isOfClass reports whether a byte is of a class such as %a. A letter that names no class, and any
// other byte, stand for themselves.
func isOfClass(c, class byte) bool {
	lower, upper := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z'
	digit, graphic := c >= '0' && c <= '9', c > ' ' && c < 0x7f
	is := false
	switch class | 0x20 {
	case 'a':
		is = lower || upper
	case 'c':
		is = c < ' ' || c == 0x7f
	case 'd':
		is = digit
	case 'g':
		is = graphic
	case 'l':
		is = lower
	case 'p':
		is = graphic && !lower && !upper && !digit
	case 's':
		is = c == ' ' || c >= '\t' && c <= '\r'
	case 'u':
		is = upper
	case 'w':
		is = lower || upper || digit
	case 'x':
		is = digit || c|0x20 >= 'a' && c|0x20 <= 'f'
	case 'z':
		is = c == 0
	default:
		return class == c
	}
	switch {
	case class >= 'a' && class <= 'z':
		return is
	case class >= 'A' && class <= 'Z':
		return !is
	}
	return class == c
}

// captured is the value of a capture. Without any, the whole match from s to end is the first.
func (m *matcher) captured(n, s, end int) lua.LValue {
	switch {
	case n >= m.level && n > 0:
		m.fail("invalid capture index")
	case n >= m.level:
		return lua.LString(m.text[s:end])
	case m.captures[n].length == open:
		m.fail("unfinished capture")
	case m.captures[n].length == position:
		return lua.LNumber(m.captures[n].from + 1)
	}
	return lua.LString(m.text[m.captures[n].from:][:m.captures[n].length])
}

// push pushes all captures. whole has the whole match be one if there are none.
func (m *matcher) push(s, end int, whole bool) (n int) {
	n = m.level
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		m.l.Push(m.captured(i, s, end))
	}
	return n
}
