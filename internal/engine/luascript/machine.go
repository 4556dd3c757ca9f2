package luascript

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"dyno/internal/engine/scenario"
	lua "github.com/yuin/gopher-lua"
)

// A machine is one of Lua's, with a copy of the script: that of a thread, or the one in which setup
// and done run.
type machine struct {
	*lua.LState
	*Maker
	budget   *budget
	rand     *rand.Rand
	measures measures
	wrk      *lua.LTable
	loaded   map[string]lua.LValue // by require

	own     *threadValue // the thread's; nil in the machine of setup and done
	static  lua.LString  // what wrk.request returns
	stopped bool         // by wrk.thread:stop()

	response *scenario.Response // that is handled; nil: none is
	names    map[string]*seenField
	scratch  []byte

	ofHeaders *lua.LTable
}

// newMachine makes a machine, and runs the script in it. Machines of one run have numbers, and each
// its own random numbers.
func (m *Maker) newMachine(number uint64) (*machine, error) {
	t := &machine{Maker: m, budget: newBudget(m.memory), names: map[string]*seenField{},
		LState: lua.NewState(lua.Options{SkipOpenLibs: true, CallStackSize: callDepth,
			RegistrySize: registryFirst, RegistryMaxSize: registryMost, RegistryGrowStep: registryFirst})}
	t.rand = rand.New(rand.NewPCG(m.Seed, number))
	t.SetContext(t.budget)
	t.budget.left = m.MaxSetup
	t.openLibraries()
	t.openDyno()
	t.openWrk()
	main := t.NewFunctionFromProto(m.code)
	return t, t.call(t.MaxSetup, 0, main)
}

// call calls a function of the script, which may take so many instructions. Its results are on the
// stack. The error begins with the file and line.
func (t *machine) call(instructions int64, results int, f *lua.LFunction,
	args ...lua.LValue) error {
	t.budget.left = instructions
	err := t.CallByParam(lua.P{Fn: f, NRet: results, Protect: true}, args...)
	if err == nil {
		return nil
	}
	text := err.Error()
	if api, is := errors.AsType[*lua.ApiError](err); is {
		text = api.Object.String()
	}
	if text = firstLine(text); !strings.HasPrefix(text, t.Name+":") {
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

// numberOf is a value that is a number or the text of one.
func numberOf(v lua.LValue) (n float64, ok bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		n := lua.LVAsNumber(v)
		return float64(n), n != 0 || strings.HasPrefix(strings.TrimSpace(string(v)), "0")
	}
	return 0, false
}

// take removes a value from the stack.
func (t *machine) take() lua.LValue {
	v := t.Get(-1)
	t.Pop(1)
	return v
}
