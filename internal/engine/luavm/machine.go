// Package luavm runs Lua as LuaJIT does, which wrk has, in an interpreter in Go, and limits what a
// script can do.
//
// The interpreter, gopher-lua, has Lua's language and tables. It reads and writes numbers unlike
// Lua, has other text functions, assigns several values wrongly, and limits nothing. So the
// libraries are those of this package, and so are some operators: the syntax tree is changed before
// it is compiled (lower.go). A test runs two thousand cases in lua5.1, in luajit and here.
//
// A script reaches no files, processes or network (sandbox.go). Instructions, memory and time of a
// call have limits (limits.go). A function of a library counts its work as instructions, and its
// bytes before it makes them.
//
//	basics.go      tonumber, pairs, pcall and the other functions without a library
//	chunk.go       reads and compiles the text of a script
//	escapes.go     \x41 and other escapes of LuaJIT
//	format.go      string.format
//	limits.go      instructions, memory and time
//	lower.go       replaces operators in the syntax tree
//	machine.go     Machine
//	maths.go       the libraries math and bit
//	numbers.go     numbers as text
//	operators.go   what lower.go puts in their place
//	pattern.go     patterns of find, match, gmatch and gsub
//	sandbox.go     which libraries a script has, and what is taken out of them
//	strings.go     the library string
//	system.go      the library os
//	tables.go      the library table
package luavm

import (
	"math/rand/v2"

	lua "github.com/yuin/gopher-lua"
)

// Options are what a machine is made with.
type Options struct {
	Memory *Guard          // of this and other machines
	Ended  <-chan struct{} // closed once nobody waits for the script; nil: never
	Random rand.Source     // of math.random
	Output func(string)    // what scripts print

	// Getenv is a variable of the environment. If it is nil, there are none.
	Getenv func(name string) (value string, is bool)

	// Missing are names that scripts do not have, by their libraries. To use one is the error that
	// Lacking returns.
	Missing map[string][]string
	Lacking func(name string) string
}

// A Machine is an interpreter with its limits.
type Machine struct {
	*lua.LState
	budget  *budget
	helpers []lua.LValue
	next    lua.LValue // the function
	nested  int        // coroutines that run
	rand    *rand.Rand
	scratch []byte
	print   func(string)
	getEnv  func(name string) (value string, is bool)
	lacking func(name string) string
}

// New returns a machine with the libraries that scripts have.
func New(o Options) *Machine {
	t := &Machine{budget: newBudget(o.Memory, o.Ended), rand: rand.New(o.Random), print: o.Output,
		getEnv: o.Getenv, lacking: o.Lacking, LState: lua.NewState(lua.Options{SkipOpenLibs: true,
			CallStackSize: callDepth, RegistrySize: registryFirst, RegistryMaxSize: registryMost,
			RegistryGrowStep: registryFirst})}
	const opening = 1 << 20 // instructions, more than it takes
	t.SetContext(t.budget)
	t.budget.begin(opening, 0)
	for _, h := range helpers {
		t.helpers = append(t.helpers, t.native(h.f))
	}
	t.openLibraries(o)
	return t
}
