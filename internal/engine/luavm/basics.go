package luavm

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// This file has the basic functions that the interpreter does not carry out as Lua does.

// native is a function of this package in the machine.
func (t *Machine) native(f func(*Machine, *lua.LState) int) *lua.LFunction {
	return t.NewFunction(func(l *lua.LState) int { return f(t, l) })
}

// openBasics replaces functions of the library that is open.
func (t *Machine) openBasics() {
	t.register(t.G.Global, functions{"assert": assert, "collectgarbage": collectNothing,
		"error": raise, "load": loadText, "loadstring": loadText, "next": nextKey, "pairs": pairs,
		"pcall": protectedCall,
		"print": print, "rawequal": rawEqual, "rawset": rawSet, "select": selectResults,
		"setmetatable": setMetatable, "tonumber": toNumber, "tostring": toText, "unpack": unpack,
		"xpcall": callWithHandler})
	t.G.Global.RawSetString("_GOPHER_LUA_VERSION", lua.LNil)
	t.next = t.G.Global.RawGetString("next")
}

// anything is an argument that must be there.
func anything(l *lua.LState, n int) lua.LValue {
	if n > l.GetTop() {
		l.ArgError(n, "value expected")
	}
	return l.Get(n)
}

// shown is a value as tostring returns it.
func (t *Machine) shown(l *lua.LState, v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return NumberText(float64(v))
	}
	if s, is := l.ToStringMeta(v).(lua.LString); is {
		return string(s)
	}
	l.RaiseError("'tostring' must return a string")
	return ""
}

func toText(t *Machine, l *lua.LState) int { return pushText(l, t.shown(l, anything(l, 1))) }

func print(t *Machine, l *lua.LState) int {
	b := &builder{t: t, l: l, name: "print"}
	for i := 1; i <= l.GetTop(); i++ {
		if i > 1 {
			b.add("\t")
		}
		b.add(t.shown(l, l.Get(i)))
	}
	b.add("\n")
	t.print(b.String())
	return 0
}

func assert(_ *Machine, l *lua.LState) int {
	if lua.LVAsBool(anything(l, 1)) {
		return l.GetTop()
	}
	message := l.Get(2)
	if message == lua.LNil {
		message = lua.LString("assertion failed!")
	}
	return raiseValue(l, message, 1)
}

func raise(_ *Machine, l *lua.LState) int { return raiseValue(l, l.Get(1), optInteger(l, 2, 1)) }

// raiseValue is an error. A text gets the place of the function that is so many calls outside.
func raiseValue(l *lua.LState, v lua.LValue, level int) int {
	if n, is := v.(lua.LNumber); is {
		v = lua.LString(NumberText(float64(n)))
	}
	l.Error(v, min(max(level, 0), callDepth))
	return 0
}

// protection is what pcall takes, in instructions.
const protection = 200

func protectedCall(t *Machine, l *lua.LState) int {
	t.spend(l, "pcall", protection)
	if f := anything(l, 1); f.Type() != lua.LTFunction && l.GetMetaField(f, "__call") == lua.LNil {
		l.Push(lua.LFalse)
		return 1 + pushText(l, "attempt to call a "+f.Type().String()+" value")
	}
	return protected(l, 1, nil)
}

func callWithHandler(t *Machine, l *lua.LState) int {
	t.spend(l, "xpcall", protection)
	f, handler := anything(l, 1), l.CheckFunction(2)
	l.Insert(f, 3)
	return protected(l, 3, handler)
}

// protected calls a function with the arguments that follow it on the stack.
func protected(l *lua.LState, at int, handler *lua.LFunction) int {
	err := l.PCall(l.GetTop()-at, lua.MultRet, handler)
	if err == nil {
		l.Insert(lua.LTrue, at)
		return l.GetTop() - at + 1
	}
	l.Push(lua.LFalse)
	if api, is := err.(*lua.ApiError); is {
		l.Push(api.Object)
		return 2
	}
	return 1 + pushText(l, err.Error())
}

func nextKey(t *Machine, l *lua.LState) int {
	of := table(l, 1)
	key, value := t.following(l, of, l.Get(2))
	l.Push(key)
	if key == lua.LNil {
		return 1
	}
	l.Push(value)
	return 2
}

func pairs(t *Machine, l *lua.LState) int {
	of := table(l, 1)
	l.Push(t.next)
	l.Push(of)
	l.Push(lua.LNil)
	return 3
}

func rawEqual(_ *Machine, l *lua.LState) int {
	l.Push(lua.LBool(l.RawEqual(anything(l, 1), anything(l, 2))))
	return 1
}

func rawSet(t *Machine, l *lua.LState) int {
	of, key, value := table(l, 1), anything(l, 2), anything(l, 3)
	t.GrowFor(l, of, key)
	l.RawSet(of, key, value)
	l.SetTop(1)
	return 1
}

func selectResults(_ *Machine, l *lua.LState) int {
	if s, is := l.Get(1).(lua.LString); is && s == "#" {
		return pushNumber(l, float64(l.GetTop()-1))
	}
	n, all := integer(l, 1), l.GetTop()
	switch {
	case n < 0:
		n += all
	case n > all:
		n = all
	}
	if n < 1 {
		l.ArgError(1, "index out of range")
	}
	return all - n
}

func setMetatable(_ *Machine, l *lua.LState) int {
	of := table(l, 1)
	if kind := l.Get(2).Type(); l.GetTop() < 2 || kind != lua.LTNil && kind != lua.LTTable {
		l.ArgError(2, "nil or table expected")
	}
	if meta, is := of.Metatable.(*lua.LTable); is && meta.RawGetString("__metatable") != lua.LNil {
		l.RaiseError("cannot change a protected metatable")
	}
	of.Metatable = l.Get(2)
	l.SetTop(1)
	return 1
}

func toNumber(_ *Machine, l *lua.LState) int {
	v, ok := 0.0, false
	switch base := optInteger(l, 2, 10); {
	case base == 10:
		v, ok = NumberOf(anything(l, 1))
	case base < 2 || base > 36:
		l.ArgError(2, "base out of range")
	default:
		v, ok = readBase(Text(l, 1), base)
	}
	if !ok {
		l.Push(lua.LNil)
		return 1
	}
	return pushNumber(l, v)
}

// readBase reads a whole number of a base. It is at most 2^64-1.
func readBase(s string, base int) (v float64, ok bool) {
	s = strings.ToLower(strings.Trim(s, spaces))
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	if base == 16 && len(s) > 2 {
		s = strings.TrimPrefix(s, "0x")
	}
	for i := range len(s) {
		const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
		digit := strings.IndexByte(letters[:base], s[i])
		if digit < 0 {
			return 0, false
		}
		v = min(v*float64(base)+float64(digit), math.MaxUint64)
	}
	if negative {
		v = -v
	}
	return v, s != ""
}

func unpack(t *Machine, l *lua.LState) int {
	const name = "unpack"
	of, first := table(l, 1), optInteger(l, 2, 1)
	last := optInteger(l, 3, math.MinInt)
	if l.Get(3) == lua.LNil {
		last = t.border(l, name, of)
	}
	n := max(last-first+1, 0)
	t.results(l, name, n)
	for i := range n {
		l.Push(get(of, first+i))
	}
	return n
}

// collectNothing is collectgarbage, which only says that it did.
func collectNothing(_ *Machine, l *lua.LState) int { return pushNumber(l, 0) }

// loadText is load: it compiles text, or what a function returns piece by piece.
func loadText(t *Machine, l *lua.LState) int {
	const name = "load"
	var source strings.Builder
	if f, is := l.Get(1).(*lua.LFunction); is {
		for source.Len() <= longestLoaded {
			piece := called(l, f)
			l.Pop(1)
			if lua.LVAsString(piece) == "" {
				break
			}
			source.WriteString(lua.LVAsString(piece))
		}
	} else {
		source.WriteString(Text(l, 1))
	}
	if source.Len() > longestLoaded {
		l.RaiseError("%s: a script may compile %d bytes of Lua at once", name, longestLoaded)
	}
	const memory, work = 200, 20 // bytes and instructions for a byte of Lua, at most
	t.Grow(l, name, source.Len()*memory)
	t.spend(l, name, source.Len()*work)
	c, err := Read(optText(l, 2, name), source.String(), nil)
	if err == nil {
		t.spend(l, name, c.work())
		err = c.Compile()
	}
	if err != nil {
		l.Push(lua.LNil)
		return 1 + pushText(l, err.Error())
	}
	l.Push(t.Script(l, c))
	return 1
}
