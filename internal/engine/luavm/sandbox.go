package luavm

import (
	lua "github.com/yuin/gopher-lua"
)

// This file is what scripts have of Lua's libraries: nothing with which they could reach files,
// processes or the network, and nothing that makes strings beyond all reason in one instruction.

// openLibraries opens what scripts may have.
func (t *Machine) openLibraries(o Options) {
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase,
		lua.CoroutineLibName: lua.OpenCoroutine} {
		t.Push(t.NewFunction(open))
		t.Push(lua.LString(name))
		t.Call(1, 0)
	}
	t.openBasics()
	t.openStrings()
	t.openTables()
	t.openMaths()
	t.openSystem()
	for library, names := range o.Missing {
		in := t.G.Global
		if library != "" {
			in = t.Library(library)
			library += "."
		}
		for _, name := range names {
			in.RawSetString(name, t.NewFunction(t.notThere(library+name)))
		}
	}
	for _, name := range []string{"package", "debug"} {
		t.SetGlobal(name, t.emptyLibrary(name))
	}
	t.openIO()
	t.guardCoroutines()
}

// Library is the library of that name.
func (t *Machine) Library(name string) *lua.LTable {
	in, _ := t.G.Global.RawGetString(name).(*lua.LTable)
	return in
}

// notThere is a function that scripts do not have.
func (t *Machine) notThere(name string) lua.LGFunction {
	return func(l *lua.LState) int {
		l.RaiseError("%s", t.lacking(name))
		return 0
	}
}

// emptyLibrary is a library of which scripts have nothing.
func (t *Machine) emptyLibrary(name string) *lua.LTable {
	empty, meta := t.NewTable(), t.NewTable()
	meta.RawSetString("__index", t.NewFunction(func(l *lua.LState) int {
		return t.notThere(name + "." + l.ToString(2))(l)
	}))
	empty.Metatable = meta
	return empty
}

// openIO opens io.write, io.stdout and io.stderr, which write where the report goes.
func (t *Machine) openIO() {
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
func (t *Machine) write(l *lua.LState, first int) int {
	b := &builder{t: t, l: l, name: "io.write"}
	for i := first; i <= l.GetTop(); i++ {
		b.add(Text(l, i))
	}
	t.print(b.String())
	l.Push(lua.LTrue)
	return 1
}

// guardCoroutines has coroutines count their instructions, too, and limits how many run inside each
// other: the interpreter calls itself for each.
func (t *Machine) guardCoroutines() {
	lib := t.Library("coroutine")
	create, wrap := lib.RawGetString("create"), lib.RawGetString("wrap")
	resume, yield := lib.RawGetString("resume"), lib.RawGetString("yield").(*lua.LFunction)
	lib.RawSetString("create", t.NewFunction(func(l *lua.LState) int {
		t.Grow(l, "coroutine.create", threadBytes)
		n := callThrough(l, create)
		l.CheckThread(l.GetTop()).SetContext(t.budget)
		return n
	}))
	lib.RawSetString("wrap", t.NewFunction(func(l *lua.LState) int {
		t.Grow(l, "coroutine.wrap", threadBytes)
		callThrough(l, wrap)
		f := l.CheckFunction(l.GetTop())
		if co, is := f.Upvalues[0].Value().(*lua.LState); is {
			co.SetContext(t.budget)
		}
		l.Push(t.NewFunction(func(l *lua.LState) int { return t.inside(l, "coroutine.wrap", f) }))
		return 1
	}))
	lib.RawSetString("resume", t.NewFunction(func(l *lua.LState) int {
		return t.inside(l, "coroutine.resume", resume)
	}))
	lib.RawSetString("yield", t.NewFunction(func(l *lua.LState) int {
		refuseYield(l)
		return yield.GFunction(l)
	}))
}

// refuseYield is an error if a function of Go would have to go on after a yield, such as pcall.
func refuseYield(l *lua.LState) {
	for i := 1; ; i++ {
		frame, is := l.GetStack(i)
		if !is {
			return
		}
		if _, err := l.GetInfo("S", frame, lua.LNil); err == nil && frame.What == "G" {
			l.RaiseError("attempt to yield across metamethod/C-call boundary")
		}
	}
}

// threadBytes is about how much a coroutine takes at first.
const threadBytes = 128 << 10

// inside resumes a coroutine.
func (t *Machine) inside(l *lua.LState, name string, resume lua.LValue) int {
	if t.nested++; t.nested > threadDepth {
		t.nested--
		l.RaiseError("%s: more than %d coroutines inside each other", name, threadDepth)
	}
	defer func() { t.nested-- }()
	return callThrough(l, resume)
}

// callThrough calls a function with the arguments of this one, and returns its results.
func callThrough(l *lua.LState, f lua.LValue) int {
	n := l.GetTop()
	l.Insert(f, 1)
	l.Call(n, lua.MultRet)
	return l.GetTop()
}
