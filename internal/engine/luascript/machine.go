package luascript

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"dyno/internal/engine/luavm"
	"dyno/internal/engine/scenario"
	lua "github.com/yuin/gopher-lua"
)

// A machine is one of Lua's, with a copy of the script: that of a thread, or the one in which setup
// and done run.
type machine struct {
	*luavm.Machine
	*Maker
	measures measures
	wrk      *lua.LTable
	loaded   map[string]lua.LValue // by require

	own     *threadValue // the thread's; nil in the machine of setup and done
	static  lua.LString  // what wrk.request returns
	stopped bool         // by wrk.thread:stop()

	requesting bool // request() runs
	streams    bool // it called dyno.stream

	user     *scenario.User     // who sends; nil: nobody does, as in setup, init and done
	response *scenario.Response // that is handled; nil: none is
	names    map[string]*seenField
	scratch  []byte

	ofHeaders *lua.LTable
}

// newMachine makes a machine, and runs the script in it. Machines of one run have numbers, and each
// its own random numbers.
func (m *Maker) newMachine(number uint64) (*machine, error) {
	t := &machine{Maker: m, names: map[string]*seenField{}, Machine: luavm.New(luavm.Options{
		Memory: m.memory, Ended: m.Ended, Random: rand.NewPCG(m.Seed, number), Output: m.output,
		Getenv: m.Getenv, Missing: missing,
		Lacking: func(name string) string { return lacking(name, false) }})}
	t.Begin(m.MaxSetup, setupTime)
	t.G.Global.RawSetString("require", t.NewFunction(t.require))
	t.openDyno()
	t.openWrk()
	return t, t.setUp(0, t.Script(t.LState, m.Chunk))
}

// setUp calls a function of the script before or after the load.
func (t *machine) setUp(results int, f *lua.LFunction, args ...lua.LValue) error {
	t.Begin(t.MaxSetup, setupTime)
	return t.call(results, f, args...)
}

// underLoad calls a function of the script under load.
func (t *machine) underLoad(results int, f *lua.LFunction, args ...lua.LValue) error {
	t.Begin(callInstructions, callTime)
	return t.call(results, f, args...)
}

// call calls a function of the script. Its results are on the stack. The error begins with the file
// and line.
func (t *machine) call(results int, f *lua.LFunction, args ...lua.LValue) error {
	err := t.CallByParam(lua.P{Fn: f, NRet: results, Protect: true}, args...)
	if err == nil {
		return nil
	}
	text := err.Error()
	if api, is := errors.AsType[*lua.ApiError](err); is {
		text = api.Object.String()
	}
	text = firstLine(text[:min(len(text), longestError)])
	if !strings.HasPrefix(text, t.Name+":") {
		text = t.Name + ": " + text
	}
	return Error{text}
}

// An Error is one of the script. It begins with the file and, where it is known, the line.
type Error struct{ text string }

// Error is the text.
func (e Error) Error() string { return e.text }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// function is the global function of that name; nil if the script defines none.
func (t *machine) function(name string) *lua.LFunction {
	f, _ := t.G.Global.RawGetString(name).(*lua.LFunction)
	return f
}

// at is an error in what a function of the script returned.
func (t *machine) at(f *lua.LFunction, format string, args ...any) error {
	line := 0
	if f != nil && f.Proto != nil {
		line = f.Proto.LineDefined
	}
	return Error{fmt.Sprintf("%s:%d: ", t.Name, line) + fmt.Sprintf(format, args...)}
}

// take removes a value from the stack.
func (t *machine) take() lua.LValue {
	v := t.Get(-1)
	t.Pop(1)
	return v
}
