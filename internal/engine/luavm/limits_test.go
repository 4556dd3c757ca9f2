package luavm

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// testedMemory is what the scripts of these tests may have, in MiB, and filledMemory what those may
// that fill it piece by piece, which takes most of their time.
const (
	testedMemory = 256
	filledMemory = 64
)

// attacks would take gigabytes, for ever, or the whole of Go's stack.
var attacks = map[string]struct{ source, want string }{
	"format":         {"string.format(('%s'):rep(12), s, s, s, s, s, s, s, s, s, s, s, s)", "string.format: the scripts of the run have more memory"},
	"format wide":    {"local t = {} for i = 1, 5000 do t[i] = 'x' end while true do k[#k + 1] = string.format(('%99s'):rep(5000), unpack(t)) end", "more"},
	"format width":   {"string.format('%999999999d', 1)", "invalid format"},
	"gsub table":     {"(('x'):rep(12)):gsub('x', {x = s})", "string.gsub: the scripts of the run have more memory"},
	"gsub function":  {"(('x'):rep(12)):gsub('x', function() return s end)", "string.gsub: the scripts of the run have more memory"},
	"gsub captures":  {"local x = ('x'):rep(2e4) x:gsub('.*', ('%0'):rep(2e4))", "string.gsub: the scripts of the run have more memory"},
	"nested":         {"('').find('', ('('):rep(12e6))", "too many captures"},
	"repetitions":    {"(('a'):rep(1e5)):find(('a?'):rep(1e5) .. 'b')", "string.find: the pattern is too complex"},
	"backtracking":   {"(('a'):rep(5000)):find('.-.-.-.-b')", "string.find: the call took more instructions"},
	"backtracking 2": {"(('a'):rep(30)):match(('a*'):rep(30) .. 'b')", "string.match: the call took more instructions"},
	"backtracking 3": {"for x in (('a'):rep(5000)):gmatch('.-.-.-.-b') do end", "string.gmatch: the call took more instructions"},
	"backtracking 4": {"(('a'):rep(5000)):gsub('.-.-.-.-b', '')", "string.gsub: the call took more instructions"},
	"balanced":       {"(('('):rep(1e5)):find('%b()x')", "string.find: the call took more instructions"},
	"long set":       {"(('a'):rep(1e5)):find('[' .. ('b'):rep(1e5) .. ']')", "string.find: the call took more instructions"},
	"one string":     {"('x'):rep(1e12)", "string.rep: a string of more than 256 MiB"},
	"separators":     {"('x'):rep(1e6, ('y'):rep(1e6))", "string.rep: a string of more than 256 MiB"},
	"operator":       {"return s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s", "the operator ..: a string of more than 256 MiB"},
	"doubles":        {"local x = 'x' while true do x = x .. x end", "the operator ..: "},
	"copies":         {"while true do k[#k + 1] = s:upper() end", "string.upper: the scripts of the run have more memory"},
	"reversed":       {"while true do k[#k + 1] = s:reverse() end", "string.reverse: the scripts of the run have more memory"},
	"concat":         {"table.concat({}, '', 1, 2 ^ 53)", "invalid value (nil) at index 1"},
	"concat index":   {"local t = {} for i = 1, 100 do t[i] = s end table.concat(t)", "table.concat: the scripts of the run have more memory"},
	"concat many":    {"table.concat(setmetatable({[0] = ''}, {}), '', -2 ^ 53, 0)", "invalid value (nil) at index -9007199254740992"},
	"insert far":     {"table.insert({}, -2 ^ 53, 1)", "table.insert: the call took more instructions"},
	"key":            {"local t = {} t[67e6] = 1", "a table: "},
	"keys":           {"for i = 1, 100 do k[i] = {[1e6] = 1} end", "the scripts of the run have more memory"},
	"rawset":         {"rawset({}, 67e6, 1)", "a table: "},
	"many assigned":  {"local t = {} t[1], t[67e6] = 1, 2", "a table: "},
	"length":         {"local t = {} for i = 1, 1e5 do t[i] = 1 end for i = 1e5, 2, -1 do t[i] = nil end while true do local n = #t end", "took more instructions"},
	"unpack":         {"unpack({}, 1, 2 ^ 53)", "unpack: 9007199254740992 results"},
	"byte":           {"s:byte(1, -1)", "string.byte: "},
	"loadstring":     {"loadstring(s)", "load: a script may compile 1048576 bytes"},
	"constants":      {"local t = {} for i = 1, 5e4 do t[i] = 'x=' .. i end loadstring(table.concat(t, ' '))", "load: the call took more instructions"},
	"load":           {"load(function() return s end)", "load: a script may compile 1048576 bytes"},
	"index loop":     {"local t = {} setmetatable(t, {__index = t}) return t.x", "too many recursions"},
	"calls":          {"local function f() return 1 + f() end f()", "stack overflow"},
	"pcalls":         {"local function f() return pcall(f) end while true do f() end", "took more instructions"},
	"gsubs":          {"local function f() return (('x'):gsub('x', f)) end f()", "stack overflow"},
	"tostrings":      {"local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) tostring(t)", "stack overflow"},
	"coroutines":     {"local function f() return coroutine.wrap(f)() end f()", "coroutine.wrap: more than 30 coroutines inside each other"},
	"coroutines 2":   {"local function f() assert(coroutine.resume(coroutine.create(f))) end f()", "coroutine.resume: more than 30 coroutines"},
	"many of them":   {"while true do k[#k + 1] = coroutine.create(function() end) end", "coroutine.create: the scripts of the run have more memory"},
	"error":          {"error(s)", "xxx"},
	"comparator":     {"table.sort({1, 2}, function() while true do end end)", "took more instructions"},
	"yields":         {"coroutine.wrap(function() table.sort({2, 1}, coroutine.yield) end)()", "attempt to yield across"},
	"tables":         {"while true do k[#k + 1] = {1, 2, 3} end", "more"},
	"arguments":      {"local t = {} for i = 1, 9e4 do t[i] = i end local function f(...) k[#k + 1] = arg end while true do f(unpack(t)) end", "more"},
	"next":           {"for i = 1, 2e4 do k['k' .. i] = 1 end for i = 1, 2e4 do k['k' .. i] = nil end while true do next(k) end", "took more instructions"},
	"date":           {"os.date(('%A'):rep(6e7))", "os.date: a string of more than 256 MiB"},
	"loops":          {"while true do pcall(function() while true do end end) end", "took more instructions"},
}

// No function of a library takes more memory, steps or stack than a script may have, and each says
// what the limit is.
func TestLimits(t *testing.T) {
	for name, a := range attacks {
		t.Run(name, func(t *testing.T) {
			runtime.GC() // a guard begins with what the last collection found: not another test's garbage
			memory := uint64(testedMemory)
			if strings.Contains(a.source, "k[") {
				memory = filledMemory
			}
			m := New(Options{Memory: NewGuard(memory << 20), Random: rand.NewPCG(1, 2), Output: func(string) {}})
			c, err := Read("x.lua", "local s, k = ('x'):rep(3e7), {} "+a.source, nil)
			if err == nil {
				err = c.Compile()
			}
			if err != nil {
				t.Fatal(err)
			}
			steps := 30_000_000 // so many can fill the memory, or the stack
			if strings.Contains(a.want, "took more instructions") && name != "pcalls" {
				steps /= 10
			}
			m.Begin(int64(steps), time.Hour)
			start := time.Now()
			err = m.CallByParam(lua.P{Fn: m.Script(m.LState, c), Protect: true})
			if err == nil || !strings.Contains(fmt.Sprintf("%.1000s", err), a.want) {
				t.Errorf("%.1000v, want %q", err, a.want)
			}
			t.Log(time.Since(start))
			m.Close()
		})
	}
	var all runtime.MemStats
	if runtime.ReadMemStats(&all); all.Sys > 3*testedMemory<<20 {
		t.Errorf("the program took %d MiB", all.Sys>>20)
	}
}

// A call ends when its time is over, and when nobody waits for it any more.
func TestEnds(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	for want, o := range map[string]struct {
		ended <-chan struct{}
		lasts time.Duration
	}{"the run was ended": {ended, time.Hour}, "the call took longer than a script may, 1ms": {nil, time.Millisecond}} {
		// The second and the third go on when the loop has ended, and return before the next look.
		for _, source := range []string{"while true do end", "pcall(function() while true do end end) return 1",
			"coroutine.resume(coroutine.create(function() while true do end end)) return 1"} {
			err := callFor(t, source, o.lasts, Options{Memory: NewGuard(1 << 30), Ended: o.ended})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", source, err, want)
			}
		}
	}
}

// A script that catches the end of its memory, which it keeps, is ended all the same.
func TestCaughtEndOfMemory(t *testing.T) {
	const source = "t = {} pcall(function() while true do t[#t + 1] = ('x'):rep(1e6) .. #t end end) return 1"
	err := callFor(t, source, time.Hour, Options{Memory: NewGuard(16 << 20)})
	if err == nil || !strings.Contains(err.Error(), errMemory.Error()) {
		t.Errorf("%v, want %q", err, errMemory)
	}
}

// callFor calls a script that may take so long.
func callFor(t *testing.T, source string, lasts time.Duration, o Options) error {
	t.Helper()
	o.Random = rand.NewPCG(1, 2)
	m := New(o)
	c, err := Read("x.lua", source, nil)
	if err == nil {
		err = c.Compile()
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Begin(1<<62, lasts)
	return m.CallByParam(lua.P{Fn: m.Script(m.LState, c), Protect: true})
}

// What reads texts of others neither fails nor hangs.
func FuzzScript(f *testing.F) {
	f.Add("return '\\x41\\z  \\u{48}' .. 010 % 3, #'x'", "^(%a-)%b()[^%d]$", "%5.2f %q")
	f.Add("local a, b = 1, 2 a, b = b, a --[==[ x ]==]", "%f[%w]", "%")
	f.Fuzz(func(t *testing.T, source, pattern, format string) {
		m := New(Options{Memory: NewGuard(1 << 30), Random: rand.NewPCG(1, 2), Output: func(string) {}})
		defer m.Close()
		m.Begin(100_000, time.Minute)
		m.SetGlobal("pattern", lua.LString(pattern))
		m.SetGlobal("form", lua.LString(format))
		for _, s := range []string{source, "return ('a(b)1'):gsub(pattern, '%0')", "return string.format(form, 1, 2)",
			"return tonumber(pattern), tonumber(form, 36), os.date(form, 0)"} {
			c, err := Read("x.lua", s, nil)
			if err == nil {
				err = c.Compile()
			}
			if err == nil {
				_ = m.CallByParam(lua.P{Fn: m.Script(m.LState, c), Protect: true})
			}
		}
	})
}
