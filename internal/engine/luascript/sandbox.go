package luascript

import (
	"io"
	"math"
	"math/rand/v2"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// This file is what scripts have of Lua's libraries: nothing with which they could reach files,
// processes or the network, and nothing that makes strings beyond all reason in one instruction.

// openLibraries opens what scripts may have.
func (t *machine) openLibraries() {
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase,
		lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
		lua.OsLibName: lua.OpenOs, lua.CoroutineLibName: lua.OpenCoroutine} {
		t.Push(t.NewFunction(open))
		t.Push(lua.LString(name))
		t.Call(1, 0)
	}
	for library, names := range missing {
		in := t.G.Global
		if library != "" {
			in = t.library(library)
			library += "."
		}
		for _, name := range names {
			in.RawSetString(name, t.NewFunction(notThere(library+name)))
		}
	}
	for _, name := range []string{"package", "debug"} {
		t.SetGlobal(name, t.emptyLibrary(name))
	}
	t.openIO()
	t.G.Global.RawSetString("require", t.NewFunction(t.require))
	t.G.Global.RawSetString("print", t.NewFunction(t.print))
	t.G.Global.RawSetString("collectgarbage", t.NewFunction(collectNothing))
	t.G.Global.RawSetString("load", t.NewFunction(t.load))
	t.G.Global.RawSetString("loadstring", t.NewFunction(t.load))
	t.library("os").RawSetString("getenv", t.NewFunction(t.getenv))
	t.openRandom()
	t.guardStrings()
	t.guardCoroutines()
}

func (t *machine) library(name string) *lua.LTable {
	in, _ := t.G.Global.RawGetString(name).(*lua.LTable)
	return in
}

// notThere is a function that scripts do not have.
func notThere(name string) lua.LGFunction {
	return func(l *lua.LState) int {
		l.RaiseError("%s", lacking(name, false))
		return 0
	}
}

// emptyLibrary is a library of which scripts have nothing.
func (t *machine) emptyLibrary(name string) *lua.LTable {
	empty, meta := t.NewTable(), t.NewTable()
	meta.RawSetString("__index", t.NewFunction(func(l *lua.LState) int {
		return notThere(name + "." + l.ToString(2))(l)
	}))
	empty.Metatable = meta
	return empty
}

// openIO opens io.write, io.stdout and io.stderr, which write where the report goes.
func (t *machine) openIO() {
	lib := t.emptyLibrary("io")
	lib.RawSetString("write", t.NewFunction(func(l *lua.LState) int { return t.write(l, 1) }))
	for _, name := range []string{"stdout", "stderr"} {
		file := t.NewTable()
		for _, method := range []string{"flush", "close", "setvbuf"} {
			file.RawSetString(method, t.NewFunction(func(*lua.LState) int { return 0 }))
		}
		file.RawSetString("write", t.NewFunction(func(l *lua.LState) int { return t.write(l, 2) }))
		lib.RawSetString(name, file)
	}
	lib.RawSetString("flush", t.NewFunction(func(*lua.LState) int { return 0 }))
	t.SetGlobal("io", lib)
}

// write writes arguments from the first on.
func (t *machine) write(l *lua.LState, first int) int {
	var b strings.Builder
	for i := first; i <= l.GetTop(); i++ {
		b.WriteString(l.CheckString(i))
	}
	t.output(b.String())
	l.Push(lua.LTrue)
	return 1
}

func (t *machine) print(l *lua.LState) int {
	var b strings.Builder
	for i := 1; i <= l.GetTop(); i++ {
		if i > 1 {
			b.WriteByte('\t')
		}
		b.WriteString(l.ToStringMeta(l.Get(i)).String())
	}
	b.WriteByte('\n')
	t.output(b.String())
	return 0
}

// output writes what a script prints. What cannot be written is lost.
func (m *Maker) output(s string) {
	m.printing.Lock()
	defer m.printing.Unlock()
	if m.Output != nil {
		_, _ = io.WriteString(m.Output, s)
	}
}

// collectNothing is collectgarbage, which only says that it did.
func collectNothing(l *lua.LState) int {
	l.Push(lua.LNumber(0))
	return 1
}

// load compiles text, or what a function returns piece by piece.
func (t *machine) load(l *lua.LState) int {
	var text strings.Builder
	if f, is := l.Get(1).(*lua.LFunction); is {
		for text.Len() <= longestLoaded {
			l.Push(f)
			l.Call(0, 1)
			piece := l.Get(-1)
			l.Pop(1)
			if lua.LVAsString(piece) == "" {
				break
			}
			text.WriteString(lua.LVAsString(piece))
		}
	} else {
		text.WriteString(l.CheckString(1))
	}
	if text.Len() > longestLoaded {
		l.RaiseError("a script may compile %d bytes of Lua at once", longestLoaded)
	}
	c, err := compileChunk(l.OptString(2, "load"), text.String())
	if err != nil {
		l.Push(lua.LNil)
		l.Push(lua.LString(err.Error()))
		return 2
	}
	l.Push(t.NewFunctionFromProto(c.code))
	return 1
}

// getenv is a variable of the environment, or nil.
func (t *machine) getenv(l *lua.LState) int {
	name := l.CheckString(1)
	if t.Getenv != nil {
		if value, is := t.Getenv(name); is {
			l.Push(lua.LString(value))
			return 1
		}
	}
	l.Push(lua.LNil)
	return 1
}

// openRandom has math.random draw from the machine's own numbers: those of package math/rand are
// the whole program's, with a lock once somebody seeds them.
func (t *machine) openRandom() {
	lib := t.library("math")
	lib.RawSetString("randomseed", t.NewFunction(func(l *lua.LState) int {
		t.rand = rand.New(rand.NewPCG(math.Float64bits(float64(l.CheckNumber(1))), 0))
		return 0
	}))
	lib.RawSetString("random", t.NewFunction(func(l *lua.LState) int {
		low, high := 1.0, 0.0
		switch l.GetTop() {
		case 0:
			l.Push(lua.LNumber(t.rand.Float64()))
			return 1
		case 1:
			high = math.Floor(float64(l.CheckNumber(1)))
		default:
			low, high = math.Floor(float64(l.CheckNumber(1))), math.Floor(float64(l.CheckNumber(2)))
		}
		if !(low <= high && high-low < 1<<53) {
			l.ArgError(l.GetTop(), "the interval is empty")
		}
		l.Push(lua.LNumber(low + float64(t.rand.Uint64N(uint64(high-low)+1))))
		return 1
	}))
}

// guardStrings limits what one call can make.
func (t *machine) guardStrings() {
	lib := t.library("string")
	lib.RawSetString("rep", t.NewFunction(func(l *lua.LState) int {
		s, n := l.CheckString(1), max(l.CheckInt(2), 0)
		checkLength(l, len(s), n)
		l.Push(lua.LString(strings.Repeat(s, n)))
		return 1
	}))
	format := lib.RawGetString("format")
	lib.RawSetString("format", t.NewFunction(func(l *lua.LState) int {
		for i := 2; i <= l.GetTop(); i++ { // as LuaJIT does it: %s shows every value
			switch v := l.Get(i).(type) {
			case lua.LString, lua.LNumber:
			default:
				l.Replace(i, l.ToStringMeta(v))
			}
		}
		return callThrough(l, format)
	}))
	gsub, concat := lib.RawGetString("gsub"), t.library("table").RawGetString("concat")
	lib.RawSetString("gsub", t.NewFunction(func(l *lua.LState) int {
		if with, is := l.Get(3).(lua.LString); is {
			checkLength(l, len(with), len(l.CheckString(1))+1)
		}
		return callThrough(l, gsub)
	}))
	t.library("table").RawSetString("concat", t.NewFunction(func(l *lua.LState) int {
		all, total := l.CheckTable(1), 0
		for i := l.OptInt(3, 1); i <= l.OptInt(4, all.Len()); i++ {
			s, _ := all.RawGetInt(i).(lua.LString)
			if total += len(s) + len(l.OptString(2, "")); total > longestString {
				checkLength(l, total, 1)
			}
		}
		return callThrough(l, concat)
	}))
}

// checkLength is an error if a string of n times so many bytes would be too long.
func checkLength(l *lua.LState, each, n int) {
	if each > 0 && n > longestString/each {
		l.RaiseError("a string of more than %d MiB would be made", longestString>>20)
	}
}

// callThrough calls a function with the arguments of this one, and returns its results.
func callThrough(l *lua.LState, f lua.LValue) int {
	n := l.GetTop()
	l.Insert(f, 1)
	l.Call(n, lua.MultRet)
	return l.GetTop()
}

// guardCoroutines has coroutines count their instructions, too.
func (t *machine) guardCoroutines() {
	lib := t.library("coroutine")
	create, wrap := lib.RawGetString("create"), lib.RawGetString("wrap")
	lib.RawSetString("create", t.NewFunction(func(l *lua.LState) int {
		n := callThrough(l, create)
		l.CheckThread(l.GetTop()).SetContext(t.budget)
		return n
	}))
	lib.RawSetString("wrap", t.NewFunction(func(l *lua.LState) int {
		n := callThrough(l, wrap)
		if co, is := l.CheckFunction(l.GetTop()).Upvalues[0].Value().(*lua.LState); is {
			co.SetContext(t.budget)
		}
		return n
	}))
}
