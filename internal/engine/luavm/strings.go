package luavm

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// This file is Lua's library string. The interpreter's own reads and writes numbers unlike Lua, and
// makes what it is told to, however large.

// functions are functions of a library by their names.
type functions map[string]func(*Machine, *lua.LState) int

// register adds functions to a library.
func (t *Machine) register(to *lua.LTable, all functions) {
	for name, f := range all {
		to.RawSetString(name, t.native(f))
	}
}

// openStrings opens the library. Texts have a metatable of their own, by which they are operands.
func (t *Machine) openStrings() {
	lib := t.NewTable()
	t.register(lib, functions{"byte": byteOf, "char": char, "find": find, "format": format,
		"gmatch": gmatch, "gsub": gsub, "len": textLength, "lower": lower, "match": matchText,
		"rep": repeat, "reverse": reverse, "sub": sub, "upper": upper})
	t.SetGlobal("string", lib)
	meta := t.NewTable()
	meta.RawSetString("__index", lib)
	for _, o := range operators {
		meta.RawSetString(o.event, t.native(o.onText))
	}
	t.SetMetatable(lua.LString(""), meta)
}

// Text is an argument that is text or a number.
func Text(l *lua.LState, n int) string {
	switch v := l.Get(n).(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return NumberText(float64(v))
	}
	wrong(l, n, "string")
	return ""
}

func optText(l *lua.LState, n int, otherwise string) string {
	if l.Get(n) == lua.LNil {
		return otherwise
	}
	return Text(l, n)
}

// number is an argument that is a number or the text of one.
func number(l *lua.LState, n int) float64 {
	v, ok := NumberOf(l.Get(n))
	if !ok {
		wrong(l, n, "number")
	}
	return v
}

// integer is an argument that is a number, without its fraction.
func integer(l *lua.LState, n int) int {
	const most = 1 << 53
	v := number(l, n)
	if math.IsNaN(v) {
		return math.MinInt32
	}
	return int(min(max(v, -most), most))
}

func optInteger(l *lua.LState, n, otherwise int) int {
	if l.Get(n) == lua.LNil {
		return otherwise
	}
	return integer(l, n)
}

// wrong is an error about an argument.
func wrong(l *lua.LState, n int, wanted string) {
	got := "no value"
	if n <= l.GetTop() {
		got = l.Get(n).Type().String()
	}
	l.ArgError(n, wanted+" expected, got "+got)
}

// relative is a place in a text, which a negative number counts from the end.
func relative(place, length int) int {
	if place < 0 {
		return max(place+length+1, 0)
	}
	return place
}

// slice is a part of a text, from place i to j.
func slice(s string, i, j int) string {
	i, j = max(relative(i, len(s)), 1), min(relative(j, len(s)), len(s))
	if i > j {
		return ""
	}
	return s[i-1 : j]
}

func sub(_ *Machine, l *lua.LState) int {
	return pushText(l, slice(Text(l, 1), integer(l, 2), optInteger(l, 3, -1)))
}

func pushText(l *lua.LState, s string) int {
	l.Push(lua.LString(s))
	return 1
}

func pushNumber(l *lua.LState, v float64) int {
	l.Push(lua.LNumber(v))
	return 1
}

func byteOf(t *Machine, l *lua.LState) int {
	i := optInteger(l, 2, 1)
	part := slice(Text(l, 1), i, optInteger(l, 3, i))
	t.results(l, "string.byte", len(part))
	for i := range len(part) {
		pushNumber(l, float64(part[i]))
	}
	return len(part)
}

// results counts the values that a function returns.
func (t *Machine) results(l *lua.LState, name string, n int) {
	if n > mostResults {
		l.RaiseError("%s: %d results, and a function can have %d", name, n, mostResults)
	}
	t.spend(l, name, n)
}

func char(_ *Machine, l *lua.LState) int {
	all := make([]byte, l.GetTop())
	for i := range all {
		n := integer(l, i+1)
		if n < 0 || n > math.MaxUint8 {
			l.ArgError(i+1, "invalid value")
		}
		all[i] = byte(n)
	}
	return pushText(l, string(all))
}

func textLength(_ *Machine, l *lua.LState) int { return pushNumber(l, float64(len(Text(l, 1)))) }

// mapped is a text of which each byte is another.
func mapped(t *Machine, l *lua.LState, name string, to func(s string, i int) byte) int {
	s := Text(l, 1)
	t.MakeString(l, name, len(s))
	var b strings.Builder
	b.Grow(len(s))
	for i := range len(s) {
		b.WriteByte(to(s, i))
	}
	return pushText(l, b.String())
}

func lower(t *Machine, l *lua.LState) int {
	return mapped(t, l, "string.lower", func(s string, i int) byte {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return s[i]
	})
}

func upper(t *Machine, l *lua.LState) int {
	return mapped(t, l, "string.upper", func(s string, i int) byte {
		if c := s[i]; c >= 'a' && c <= 'z' {
			return c - 'a' + 'A'
		}
		return s[i]
	})
}

func reverse(t *Machine, l *lua.LState) int {
	return mapped(t, l, "string.reverse", func(s string, i int) byte { return s[len(s)-1-i] })
}

// repeat is string.rep(s, n, separator).
func repeat(t *Machine, l *lua.LState) int {
	s, n, separator := Text(l, 1), max(integer(l, 2), 0), optText(l, 3, "")
	each := len(s) + len(separator)
	if n == 0 || each == 0 {
		return pushText(l, "")
	}
	if n > LongestString/each+1 {
		n = LongestString + 2 // which is too long
	}
	t.MakeString(l, "string.rep", each*(n-1)+len(s))
	if separator == "" {
		return pushText(l, strings.Repeat(s, n))
	}
	return pushText(l, strings.Repeat(s+separator, n-1)+s)
}

// matcher is one of the first two arguments of a function.
func (t *Machine) matcher(l *lua.LState, name string) *matcher {
	return &matcher{t: t, l: l, name: name, text: Text(l, 1), pattern: Text(l, 2)}
}

// begin removes what is no part of the pattern proper: ^, if the function knows it, and all from a
// byte 0 on.
func (m *matcher) begin(anchors bool) (anchored bool) {
	if anchors {
		m.pattern, anchored = strings.CutPrefix(m.pattern, "^")
	}
	m.pattern, _, _ = strings.Cut(m.pattern, "\x00")
	return anchored
}

func find(t *Machine, l *lua.LState) int { return t.search(l, "string.find", true) }

func matchText(t *Machine, l *lua.LState) int { return t.search(l, "string.match", false) }

// search is find and match.
func (t *Machine) search(l *lua.LState, name string, places bool) int {
	m := t.matcher(l, name)
	at := min(max(relative(optInteger(l, 3, 1), len(m.text))-1, 0), len(m.text))
	if places && (lua.LVAsBool(l.Get(4)) || !strings.ContainsAny(m.pattern, `^$*+?.([%-`)) {
		t.spend(l, name, (len(m.text)-at)/bytesPerInstruction)
		found := strings.Index(m.text[at:], m.pattern)
		if found < 0 {
			l.Push(lua.LNil)
			return 1
		}
		return pushNumber(l, float64(at+found+1)) + pushNumber(l, float64(at+found+len(m.pattern)))
	}
	anchored := m.begin(true)
	for ; at <= len(m.text); at++ {
		if end := m.from(at, 0); end >= 0 {
			if !places {
				return m.push(at, end, true)
			}
			return pushNumber(l, float64(at+1)) + pushNumber(l, float64(end)) + m.push(at, end, false)
		}
		if anchored {
			break
		}
	}
	l.Push(lua.LNil)
	return 1
}

func gmatch(t *Machine, l *lua.LState) int {
	m, at := t.matcher(l, "string.gmatch"), 0
	m.begin(false)
	l.Push(l.NewFunction(func(l *lua.LState) int {
		for m.l = l; at <= len(m.text); at++ {
			end := m.from(at, 0)
			if end < 0 {
				continue
			}
			start := at
			if at = end; end == start {
				at++
			}
			return m.push(start, end, true)
		}
		l.Push(lua.LNil)
		return 1
	}))
	return 1
}

func gsub(t *Machine, l *lua.LState) int {
	const name = "string.gsub"
	m, with := t.matcher(l, name), l.Get(3)
	switch with.Type() {
	case lua.LTNumber, lua.LTString, lua.LTTable, lua.LTFunction:
	default:
		l.ArgError(3, "string/function/table expected")
	}
	anchored := m.begin(true)
	b, at, done := &builder{t: t, l: l, name: name}, 0, 0
	for most := optInteger(l, 4, len(m.text)+1); done < most; {
		end := m.from(at, 0)
		if end >= 0 {
			done++
			m.replace(b, with, at, end)
		}
		switch {
		case end > at:
			at = end
		case at < len(m.text):
			b.add(m.text[at : at+1])
			at++
		default:
			at++
		}
		if anchored || at > len(m.text) {
			break
		}
	}
	if at < len(m.text) {
		b.add(m.text[at:])
	}
	return pushText(l, b.String()) + pushNumber(l, float64(done))
}

// A builder makes a string, and counts its bytes.
type builder struct {
	strings.Builder
	t    *Machine
	l    *lua.LState
	name string
}

func (b *builder) add(s string) {
	if n := b.Len() + len(s); n > b.Cap() {
		b.t.MakeString(b.l, b.name, n)
		room := min(2*n, LongestString)
		b.t.Grow(b.l, b.name, room)
		b.Grow(room - b.Len())
	}
	b.WriteString(s)
}

// replace adds what a match becomes.
func (m *matcher) replace(b *builder, with lua.LValue, s, end int) {
	var v lua.LValue
	switch with := with.(type) {
	case lua.LString:
		m.expand(b, string(with), s, end)
		return
	case lua.LNumber:
		m.expand(b, NumberText(float64(with)), s, end)
		return
	case *lua.LTable:
		v = m.l.GetTable(with, m.captured(0, s, end))
	case *lua.LFunction:
		m.l.Push(with)
		m.l.Call(m.push(s, end, true), 1)
		v = m.l.Get(-1)
		m.l.Pop(1)
	}
	switch v := v.(type) {
	case lua.LString:
		b.add(string(v))
	case lua.LNumber:
		b.add(NumberText(float64(v)))
	default:
		if lua.LVAsBool(v) {
			m.fail("invalid replacement value (a %s)", v.Type())
		}
		b.add(m.text[s:end])
	}
}

// expand adds a replacement, in which %1 is a capture and %0 the whole match.
func (m *matcher) expand(b *builder, with string, s, end int) {
	for {
		plain, rest, escaped := strings.Cut(with, "%")
		b.add(plain)
		if !escaped {
			return
		}
		c := byte(0)
		if rest != "" {
			c, rest = rest[0], rest[1:]
		}
		switch {
		case c == '0':
			b.add(m.text[s:end])
		case c >= '1' && c <= '9':
			v := m.captured(int(c-'1'), s, end)
			if n, is := v.(lua.LNumber); is {
				b.add(NumberText(float64(n)))
			} else {
				b.add(string(v.(lua.LString)))
			}
		default:
			b.add(string([]byte{c}))
		}
		with = rest
	}
}
