package luavm

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// unlike are the cases in which dyno does not print what LuaJIT does, with the reason. LuaJIT is
// what wrk has.
var unlike = map[string]string{
	"random of nothing":             "LuaJIT returns numbers outside of the interval; Lua 5.1 and dyno refuse it",
	"random of 0":                   "the same",
	"log10 4.9406564584124654e-324": "Go has another logarithm of numbers below 1e-307",
	"negative zero":                 "the interpreter's arithmetic knows only one zero",
	"mod":                           "Lua 5.1 and dyno have math.mod, LuaJIT does not",
}

// jitOnly are the beginnings of cases in which LuaJIT, and dyno with it, differ from Lua 5.1.
var jitOnly = map[string]string{
	"negate 'nan'": "no sign of what is no number", "sqrt -": "the same", "nan": "the same", "% ": "the same",
	"fmod inf 5": "the same", "constants": "the same",
	"tonumber '1<0>'": "a text ends at its end", "add '1<0>'": "the same", "negate '1<0>'": "the same",
	"ten '1<0>'": "the same", "format zero": "the same",
	"tonumber '0b1'": "binary numbers", "add '0b1'": "the same", "negate '0b1'": "the same", "ten '0b1'": "the same",
	"base ": "negative numbers of a base", "unsigned ": "numbers of more than 64 bits", "tie": "ties are rounded away from 0",
	"format spec '%F'": "another specifier", "quoted control": "other escapes of the same text",
	"format others": "%s of any value", "format a table": "the same", "log of a base": "math.log has a base",
	"find '%g'": "a class of printable characters", "find from 3 '%g'": "the same", "match '%g'": "the same",
	"gsub '%g'": "the same", "gsub 1 '%g'": "the same", "gmatch '%g'": "the same",
	"type": "a coroutine of a function of the library", "bits": "LuaJIT's library bit",
}

// Numbers, texts, tables and the language are those of Lua 5.1 and LuaJIT, case by case.
func TestLikeLua(t *testing.T) {
	t.Setenv("TZ", "UTC")
	const file = "testdata/like_lua.lua"
	run := func(name string) []string {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed; e2e/install.sh installs it", name)
		}
		out, err := exec.Command(name, file).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(out), "\n")
	}
	lua51, jit := run("lua5.1"), run("luajit")
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c, err := Read(file, string(source), nil)
	if err == nil {
		err = c.Compile()
	}
	if err != nil {
		t.Fatal(err)
	}
	m := newTestMachine(&out)
	if err := m.CallByParam(lua.P{Fn: m.Script(m.LState, c), Protect: true}); err != nil {
		t.Error(err)
	}
	own := strings.Split(out.String(), "\n")
	if len(own) != len(jit) || len(jit) != len(lua51) || len(own) < 2000 {
		t.Errorf("%d, %d and %d lines", len(own), len(jit), len(lua51))
	}
	bad := 0
	for i := range min(len(own), len(jit), len(lua51)) {
		name, _, _ := strings.Cut(jit[i], "\t")
		_, differs := unlike[name]
		if differs && own[i] == jit[i] || !differs && own[i] != jit[i] {
			if bad++; bad < 60 {
				t.Errorf("dyno  %q\n  LuaJIT  %q\n  Lua 5.1 %q", own[i], jit[i], lua51[i])
			}
		}
		if !differs && lua51[i] != jit[i] && !startsWithAny(name, jitOnly) {
			t.Errorf("LuaJIT %q, Lua 5.1 %q: not known", jit[i], lua51[i])
		}
	}
	t.Logf("%d cases, %d differ", len(own)-1, bad)
}

func startsWithAny(s string, all map[string]string) bool {
	for name := range all {
		if strings.HasPrefix(s, name) {
			return true
		}
	}
	return false
}

// newTestMachine is a machine in the middle of a call that may take long.
func newTestMachine(out *strings.Builder) *Machine {
	m := New(Options{Memory: NewGuard(1 << 30), Random: rand.NewPCG(1, 2),
		Output: func(s string) { out.WriteString(s) }})
	m.Begin(1e9, time.Hour)
	return m
}
