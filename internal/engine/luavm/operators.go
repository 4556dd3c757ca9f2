package luavm

import (
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// This file has the operators that the interpreter does not carry out as Lua does: see lower.go.

// operators are those of numbers, whose operands may be texts of numbers.
var operators = []struct {
	event  string
	onText func(*Machine, *lua.LState) int
}{{"__add", onText("__add", '+')}, {"__sub", onText("__sub", '-')}, {"__mul", onText("__mul", '*')},
	{"__div", onText("__div", '/')}, {"__mod", onText("__mod", '%')}, {"__pow", onText("__pow", '^')},
	{"__unm", negate}}

// onText is an operator of which an operand is text. If the other has the operator as a method,
// that is called.
func onText(event string, operator byte) func(*Machine, *lua.LState) int {
	return func(_ *Machine, l *lua.LState) int {
		a, b := l.Get(1), l.Get(2)
		x, ok := NumberOf(a)
		y, ok2 := NumberOf(b)
		if ok && ok2 {
			return pushNumber(l, calculate(operator, x, y))
		}
		return binary(l, event, a, b, "perform arithmetic on")
	}
}

// binary calls the method of two operands, and is an error if neither has it.
func binary(l *lua.LState, event string, a, b lua.LValue, doing string) int {
	for _, v := range []lua.LValue{a, b} {
		if _, is := v.(lua.LString); is && event != "__concat" {
			continue
		}
		if f := l.GetMetaField(v, event); f != lua.LNil {
			l.Push(f)
			l.Push(a)
			l.Push(b)
			l.Call(2, 1)
			return 1
		}
	}
	blamed := b
	if event == "__concat" {
		if !lua.LVCanConvToString(a) {
			blamed = a
		}
	} else if _, ok := NumberOf(a); !ok {
		blamed = a
	}
	l.RaiseError("attempt to %s a %s value", doing, blamed.Type())
	return 0
}

func negate(_ *Machine, l *lua.LState) int {
	v, ok := NumberOf(l.Get(1))
	if !ok {
		l.RaiseError("attempt to perform arithmetic on a string value")
	}
	return pushNumber(l, -v)
}

// NumberOf is a value that is a number or the text of one.
func NumberOf(v lua.LValue) (n float64, ok bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return readNumber(string(v))
	}
	return 0, false
}

// modulo is a % b.
func (t *Machine) modulo(l *lua.LState) int {
	a, isA := l.Get(1).(lua.LNumber)
	b, isB := l.Get(2).(lua.LNumber)
	if isA && isB {
		return pushNumber(l, calculate('%', float64(a), float64(b)))
	}
	for _, v := range []lua.LValue{l.Get(1), l.Get(2)} {
		if f := l.GetMetaField(v, "__mod"); f != lua.LNil {
			l.Insert(f, 1)
			l.Call(2, 1)
			return 1
		}
	}
	return binary(l, "__mod", l.Get(1), l.Get(2), "perform arithmetic on")
}

// length is #v.
func (t *Machine) length(l *lua.LState) int {
	switch v := l.Get(1).(type) {
	case lua.LString:
		return pushNumber(l, float64(len(v)))
	case *lua.LTable:
		return pushNumber(l, float64(t.border(l, "the operator #", v)))
	default:
		if f := l.GetMetaField(v, "__len"); f != lua.LNil {
			l.Insert(f, 1)
			l.Call(1, 1)
			return 1
		}
		l.RaiseError("attempt to get length of a %s value", v.Type())
	}
	return 0
}

// loopBound is a bound of a numeric loop, which its first argument names.
func (t *Machine) loopBound(l *lua.LState) int {
	v, ok := NumberOf(l.Get(2))
	if !ok {
		l.RaiseError("'for' %s value must be a number", Text(l, 1))
	}
	return pushNumber(l, v)
}

// literal is a number that the compiler would read as another.
func (t *Machine) literal(l *lua.LState) int { return pushNumber(l, number(l, 1)) }

// concatenate is a .. b .. c, from right to left.
func (t *Machine) concatenate(l *lua.LState) int {
	const name = "the operator .."
	n := l.GetTop()
	if t.joined(l, name, 1, n) {
		return 1
	}
	for ; n > 1; n-- {
		if a, b := l.Get(n-1), l.Get(n); !lua.LVCanConvToString(a) || !lua.LVCanConvToString(b) {
			binary(l, "__concat", a, b, "concatenate")
		} else {
			t.joined(l, name, n-1, n)
		}
		result := l.Get(-1)
		l.SetTop(n - 2)
		l.Push(result)
	}
	return 1
}

// joined pushes arguments as one text. It reports false if one is neither text nor a number.
func (t *Machine) joined(l *lua.LState, name string, first, last int) bool {
	total := 0
	for i := first; i <= last; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			total += len(v)
		case lua.LNumber:
			total += digits
		default:
			return false
		}
	}
	t.MakeString(l, name, total)
	b := t.scratch[:0]
	if total > MostScratch {
		b = make([]byte, 0, total)
	}
	for i := first; i <= last; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			b = append(b, v...)
		case lua.LNumber:
			b = AppendNumber(b, float64(v))
		}
	}
	if total <= MostScratch {
		t.scratch = b
		l.Push(lua.LString(b))
	} else {
		l.Push(lua.LString(asText(b)))
	}
	return true
}

// asText is a text of bytes that nobody changes any more.
func asText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
