package luascript

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// A script that goes wrong under load ends the run, with the place and the reason. What was measured
// before is in the result.
func TestFaultsUnderLoad(t *testing.T) {
	const before = "n = 0\nfunction request()\n n = n + 1\n if n <= 100 then return wrk.format() end\n"
	for name, c := range map[string]struct{ source, want string }{
		"throws":       {before + " error('enough')\nend", "x.lua:5: enough"},
		"throws table": {before + " error({})\nend", "x.lua: table: "},
		"is wrong":     {before + " return nothing.x\nend", "x.lua:5: attempt to index a non-table object(nil)"},
		"loops":        {before + " while true do end\nend", "x.lua:5: the call took "},
		"loops protected": {before + " while true do pcall(function() while true do end end) end\nend",
			"x.lua:5: the call took "},
		"loops in a coroutine": {before + " coroutine.wrap(function() while true do end end)()\nend",
			"x.lua:5: the call took "},
		"loops in another": {before + " coroutine.resume(coroutine.create(function() while true do end end))\nend",
			"the call took "},
		"grows": {before + " t = {}; while true do t[#t + 1] = ('x'):rep(1e5) .. #t end\nend",
			"the scripts of the run have more memory than they may, 32 MiB"},
		"doubles": {before + " s = 'x'; while true do s = s .. s end\nend",
			"x.lua:5: the operator ..: the scripts of the run have more memory than they may, 32 MiB"},
		"recurses":   {before + " local function f() return 1 + f() end return f()\nend", "x.lua:5: stack overflow"},
		"one string": {before + " return ('x'):rep(1e12)\nend", "x.lua:5: string.rep: a string of more than 256 MiB"},
		"one more":   {before + " return ('x'):rep(1e6):gsub('.', ('y'):rep(1e6))\nend", "x.lua:5: string.gsub: the scripts of the run have more memory than they may, 32 MiB"},
		"joined":     {before + " local s, t = ('x'):rep(1e6), {}; for i = 1, 300 do t[i] = s end return table.concat(t)\nend", "x.lua:5: table.concat: the scripts of the run have more memory than they may, 32 MiB"},
		"yields":     {before + " coroutine.yield(1)\nend", "can not yield from outside of a coroutine"},
		"nothing":    {before + "end", "x.lua:2: request() returned nil; it returns the text of a request"},
		"a number":   {before + " return 7\nend", "x.lua:2: request() returned number"},
		"no text":    {before + " return ''\nend", "x.lua:2: request() returned an empty string"},
		"nonsense":   {before + " return 'hello'\nend", "cannot be sent: it has no request line"},
		"a half":     {before + " return 'GET / HTTP/1.1\\r\\nA: b\\r\\n'\nend", "cannot be sent: its header does not end"},
		"a space":    {before + " return wrk.format(nil, '/a b')\nend", `cannot be sent: "GET" "/a b": path "/a b" contains a space`},
		"two lines":  {before + " return wrk.format(nil, '/', {A = 'b\\r\\nC D'})\nend", `the line "C D" of its header has no colon`},
		"chunks":     {before + " return wrk.format(nil, '/', {['Transfer-Encoding'] = 'chunked'})\nend", "it has Transfer-Encoding"},
		"short":      {before + " return wrk.format('PUT', '/', {}, 'xyz'):sub(1, -2)\nend", "its Content-Length is 3, and 2 bytes follow"},
		"long":       {before + " return wrk.format('PUT', '/', {}, 'xyz') .. 'abc'\nend", "it has no request line"},
		"late":       {before + " dyno.check('a' .. n, true)\nend", `the name "a101" is not written in the script`},
		"check":      {before + " dyno.check('a', true)\nend", "dyno.check is about a response"},
		"both":       {before + " dyno.counter('a'); dyno.histogram('a')\nend", `"a" is a counter and a histogram`},
		"a user":     {before + " dyno.user = {}\nend", "x.lua:5: dyno.user is the table of the user who sends"},
		"no name":    {before + " dyno.counter('\\n')\nend", "is no name"},
		"many":       {before + " for i = 1, 1000 do dyno.counter('c' .. i) end\nend", "more than 100 counters"},
		"below":      {before + " dyno.histogram('a'):record(-1)\nend", "a histogram has values from 0"},
		"a response": {"n = 0\nfunction response()\n n = n + 1\n if n > 100 then error('enough') end\nend", "x.lua:4: enough"},
		"a delay":    {"n = 0\nfunction delay()\n n = n + 1\n if n > 100 then return -1 end return 0\nend", "x.lua:2: delay() returned -1"},
		"no delay":   {"n = 0\nfunction delay()\n n = n + 1\n if n > 100 then return {} end return 0\nend", "x.lua:2: delay() returned table"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(t)
			try := func() *loadresult.Result {
				r, _, _ := run(t, e, c.source, 1000, func(c *Config, _ *loadplan.Plan) { c.MaxMemory = 32 << 20 })
				return r
			}
			r := try()
			// A busy machine may take more time than a call may, before it meets another limit.
			slow := func() bool {
				return strings.Contains(r.Cause, "longer than a script may") && !strings.HasSuffix(c.want, "took ")
			}
			for n := 0; n < 4 && slow(); n++ {
				r = try()
			}
			if r.Ended != loadresult.Faulted || !strings.Contains(r.Cause, c.want) {
				t.Errorf("%s: %q, want %q", r.Ended, r.Cause, c.want)
			}
			if n := r.Total.Completed; n < 99 || n > 101 {
				t.Errorf("%d completed", n)
			}
		})
	}
}

// What is wrong before the load is reported before the load.
func TestFaultsBeforeTheLoad(t *testing.T) {
	for source, want := range map[string]string{
		"function request(":                       "x.lua: syntax error at the end of the file",
		"x = = 1":                                 "x.lua:1:5: syntax error near \"=\"",
		"goto nowhere":                            "no visible label 'nowhere' for <goto> at line 1",
		"error('no')":                             "x.lua:1: no",
		"\nfunction setup() error('no') end":      "x.lua:2: no",
		"\nfunction init() wrk.headers = 1 end":   "headers are a table",
		"function request() return {} end":        "x.lua:1: request() returned table",
		"require 'socket.http'":                   `x.lua:1: require("socket.http") is not available: scripts of dyno have no files, processes or network; put the functions of that file into the script`,
		"s = require 'socket'; s.connect('h', 1)": "x.lua:1: socket.connect is not available",
		"io.open('/etc/passwd')":                  "x.lua:1: io.open is not available: scripts of dyno have no files, processes or network; write the data into the script, as a table; print writes to stdout",
		"function done()\n local f = io.open('x', 'a+') end": "x.lua:2: io.open is not available: scripts of dyno have no files, processes or network; " +
			"print what you want: it goes to stdout",
		"local io = require('io')\nfunction done() for l in io.lines('x') do end end": "x.lua:2: io.lines is not available",
		"local o = os\nfunction response() os.exit() end":                             "x.lua:2: os.exit is not available: scripts of dyno have no files, processes or network; wrk.thread:stop() ends",
		"function done() print(debug.traceback()) end":                                "x.lua:1: debug.traceback is not available",
		"local f = io['po' .. 'pen']":                                                 "x.lua:1: io.popen is not available: scripts of dyno have no files, processes or network; run that before dyno, or after it",
		"function request() return wrk.format('GET', 'http://127.0.0.1:2/a') end":     "x.lua:1: what request() returned cannot be sent: it is for http://127.0.0.1:2, and this run may load only http://127.0.0.1:1",
		"wrk.path = 'https://127.0.0.1:1/a'":                                          "it is for https://127.0.0.1:1, and this run may load only http://127.0.0.1:1",
		"wrk.path = 'http://a:b@127.0.0.1:1/'":                                        "its URL has a user; write the header Authorization",
		"os.execute('ls')":                                                            "x.lua:1: os.execute is not available",
		"os.remove('x')":                                                              "x.lua:1: os.remove is not available",
		"dofile('x.lua')":                                                             "x.lua:1: dofile is not available",
		"loadfile('x.lua')":                                                           "x.lua:1: loadfile is not available",
		"package.loadlib('x', 'y')":                                                   "x.lua:1: package.loadlib is not available",
		"debug.getregistry()":                                                         "x.lua:1: debug.getregistry is not available",
		"wrk.lookup('example.com', 80)":                                               "wrk.lookup knows only 127.0.0.1",
		"function setup(t) t.addr = 'there' end":                                      "of a thread only addr can be set",
		"function setup(t) t:set('f', print) end":                                     "thread:set(\"f\"): a function cannot go",
		"function setup(t) local x = {}; x.x = x; t:set('x', x) end":                  "tables inside each other",
		"x = " + strings.Repeat("{", 1e5) + strings.Repeat("}", 1e5):                  "x.lua: more than 2000 expressions or blocks",
		"x = 1" + strings.Repeat("+1", 1e6):                                           "x.lua: more than 2000 expressions or blocks",
		"assert(load('x = 1' .. ('+1'):rep(4e5)))":                                    "load: more than 2000 expressions or blocks",
		"assert(loadstring('x = 1' .. ('+1'):rep(1e6)))":                              "a script may compile 1048576 bytes",
		"while true do end":                                                           "x.lua:1: the call took more instructions",
	} {
		c := configOf("http://127.0.0.1:1", source, nil)
		c.MaxSetup = 30_000_000
		if _, err := Compile(c); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %.200v, want %s", source, err, want)
		}
	}
	c := configOf("http://127.0.0.1:1", `function request() return wrk.format() .. wrk.format() end`, nil)
	c.Pipelines = false
	if _, err := Compile(c); err == nil || !strings.Contains(err.Error(), "returned 2 requests at once, which only HTTP/1") {
		t.Error(err)
	}
}

// What a script has under a name of what is missing, or asks pcall for, is no reason to refuse it.
func TestLacksNothing(t *testing.T) {
	for _, source := range []string{
		"local ok, cjson = pcall(require, 'cjson'); assert(not ok)",
		"pcall(function() local f = io.open('x', 'w'); pcall(io.popen, 'ls') end)",
		"local debug = {traceback = print}; function done() debug.traceback() end",
		"debug = {on = true}; if debug.on then x = 1 end",
		"local module = {}; function module.f() end; local function f(io) return io.open end; f({})",
		"local require = print; require('cjson')",
		"local s, io = require('string'), require('io'); io.write(s.rep('', 2)); io.stdout:write('')",
		"local socket = require 'socket'; assert(socket == require('socket')); local t = socket.gettime(); " +
			"assert(t > 1.7e9 and math.abs(t - os.time()) < 60)",
	} {
		if _, err := Compile(configOf("http://127.0.0.1:1", source, nil)); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// A URL of the run's own origin is its path.
func TestOwnURL(t *testing.T) {
	for given, want := range map[string]string{"http://127.0.0.1:1/a?b=c": "/a?b=c", "http://127.0.0.1:1": "/",
		"http://127.0.0.1:1?x": "/?x", "/p": "/p"} {
		m, err := Compile(configOf("http://127.0.0.1:1", "function request() return wrk.format('GET', '"+given+"') end", nil))
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		if r, _ := m.Example(0); r.Path != want {
			t.Errorf("%s is %q, want %q", given, r.Path, want)
		}
	}
	c := configOf("http://localhost", "wrk.path = 'http://LOCALHOST:80/a'", nil)
	if m, err := Compile(c); err != nil || m.fixed.request.Path != "/a" {
		t.Error(err)
	}
}

// Scripts reach no files, whichever way they try.
func TestNoFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "here")
	if err := os.WriteFile(file, []byte("return 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	source := `local tried = {}
		for name, library in pairs({io = io, os = os, package = package, debug = debug, _G = _G}) do
			for _, f in ipairs({"open", "lines", "popen", "tmpfile", "input", "output", "execute", "exit", "remove",
				"rename", "tmpname", "setenv", "dofile", "loadfile", "require", "module", "loadlib", "getregistry"}) do
				local ok, err = pcall(function() return library[f]("FILE") end)
				assert(not ok, name .. "." .. f)
			end
		end
		assert(getmetatable("").__index.dump == nil or not pcall(string.dump, print))`
	if _, err := Compile(configOf("http://127.0.0.1:1", strings.ReplaceAll(source, "FILE", file), nil)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// Each run of a script begins anew, and its threads are independent.
func TestAgain(t *testing.T) {
	m, err := Compile(configOf("http://127.0.0.1:1", "n = (n or 0) + 1\nfunction setup(t) t:set('x', n); n = n + 1 end", nil))
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Again()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []*Maker{m, again} {
		if got := one.ready[0].G.Global.RawGetString("x").String(); got != "1" {
			t.Error(got)
		}
	}
}

// The same seed draws the same numbers, in each thread others.
func TestSeed(t *testing.T) {
	draw := func(seed uint64) (all []string) {
		c := configOf("http://127.0.0.1:1", "x = math.random(1e6)", nil)
		c.Seed, c.Threads = seed, 2
		m, err := Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range m.ready {
			all = append(all, r.G.Global.RawGetString("x").String())
		}
		return all
	}
	one, two, other := draw(1), draw(1), draw(2)
	if one[0] != two[0] || one[1] != two[1] || one[0] == one[1] || one[0] == other[0] {
		t.Error(one, two, other)
	}
}

// setup chooses addresses.
func TestAddresses(t *testing.T) {
	c := configOf("http://localhost:81", `function setup(t) t.addr = wrk.lookup("localhost", "http")[2] end`, nil)
	c.Lookup = func() ([]netip.AddrPort, error) {
		return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:81"), netip.MustParseAddrPort("[::1]:81")}, nil
	}
	m, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	if all := m.Addresses(); len(all) != 1 || all[0] != netip.IPv6Loopback() {
		t.Error(all)
	}
}

// A fault of one thread ends the load of all.
func TestFaultOfOneThread(t *testing.T) {
	e := newEcho(t)
	r, _, _ := run(t, e, `function setup(thread) n = (n or 0) + 1; thread:set("id", n) end
		function response() if id == 3 then error("thread " .. id) end end`, 0,
		func(c *Config, p *loadplan.Plan) {
			c.Threads, p.Threads, p.Connections, p.Duration = 3, 3, 3, loadplan.Seconds(time.Hour)
		})
	if r.Ended != loadresult.Faulted || r.Cause != "x.lua:2: thread 3" {
		t.Error(r.Ended, r.Cause)
	}
}
