package luascript

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
)

// An echo is a server that keeps what it was sent.
type echo struct {
	*httptest.Server
	lock sync.Mutex
	got  []string
}

func newEcho(t *testing.T) *echo {
	e := &echo{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		line := r.Method + " " + r.RequestURI + " " + r.Host
		for _, name := range []string{"X-Counter", "X-Token", "Content-Type", "Content-Length"} {
			if v := r.Header.Get(name); v != "" {
				line += " " + name + "=" + v
			}
		}
		e.lock.Lock()
		e.got = append(e.got, strings.TrimSpace(line+" "+string(body)))
		e.lock.Unlock()
		w.Header().Set("X-Token", "t1")
		if strings.HasPrefix(r.URL.Path, "/bad") {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(w, "you sent %s", r.URL.Path)
	}))
	t.Cleanup(e.Close)
	return e
}

// configOf is the configuration of a script that a run of one thread has.
func configOf(url, source string, out io.Writer) Config {
	host := strings.TrimPrefix(url, "http://")
	name, port, _ := strings.Cut(host, ":")
	return Config{Name: "x.lua", Source: source, URL: url, Scheme: "http", Host: name, Port: port, Threads: 1,
		Seed: 1, Pipelines: true, Output: out,
		Request: proto.Request{Method: "GET", Path: "/", Authority: host}}
}

// run makes n requests with a script.
func run(t *testing.T, e *echo, source string, n int64, change func(*Config, *loadplan.Plan)) (
	*loadresult.Result, *Maker, string) {
	t.Helper()
	var out bytes.Buffer
	c := configOf(e.URL, source, &out)
	p := loadplan.DefaultPlan()
	at := netip.MustParseAddrPort(c.Request.Authority)
	p.Target = loadplan.Target{URL: e.URL, Host: at.Addr().String(), Port: at.Port()}
	p.Connections, p.Threads, p.Requested, p.Duration = 1, 1, n, 0
	p.Drain = loadplan.Seconds(time.Minute)
	if change != nil {
		change(&c, &p)
	}
	m, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	m.SetPlan(&p)
	r, err := load.Run(context.Background(), p, func(loadresult.Interval) {})
	if err != nil {
		t.Fatal(err)
	}
	return r, m, out.String()
}

// What a script makes is what the server is sent. As wrk does, the first request of the first
// thread is made once before the load.
func TestRequests(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   []string
	}{
		"nothing": {"", []string{"GET / HOST", "GET / HOST"}},
		"static": {`wrk.method, wrk.body, wrk.path = "POST", "a=b", "/form"
			wrk.headers["Content-Type"] = "text/x"`,
			[]string{"POST /form HOST Content-Type=text/x Content-Length=3 a=b", "POST /form HOST Content-Type=text/x Content-Length=3 a=b"}},
		"counter": {`n = 0
			request = function()
				wrk.headers["X-Counter"] = n
				n = n + 1
				return wrk.format(nil, "/" .. n - 1)
			end`, []string{"GET /1 HOST X-Counter=1", "GET /2 HOST X-Counter=2", "GET /3 HOST X-Counter=3"}},
		"pipelined": {`init = function()
				all = table.concat({wrk.format(nil, "/a"), wrk.format("PUT", "/b", {}, "bb"), wrk.format(nil, "/c")})
			end
			request = function() return all end`,
			[]string{"GET /a HOST", "PUT /b HOST Content-Length=2 bb", "GET /c HOST", "GET /a HOST"}},
		"own text": {`function request() return "DELETE /x?y HTTP/1.1\nHost: other\n\n" end`, []string{"DELETE /x?y other"}},
		"args":     {`function init(a) wrk.path = "/" .. #a .. a[1] .. a[2] .. (a[0] == wrk.scheme .. "://" .. wrk.host .. ":" .. wrk.port and "" or a[0]) end`, []string{"GET /2onetwo HOST"}},
		"wrk.request": {`function init() wrk.path = "/y" end
			function request() return wrk.request() end`, []string{"GET /y HOST"}},
		"environment": {`wrk.path = "/" .. os.getenv("WHO") .. tostring(os.getenv("NOBODY"))`, []string{"GET /menil HOST"}},
		"taken away":  {`function request() request = nil; return wrk.format(nil, "/never") end`, []string{"GET / HOST"}},
	} {
		e := newEcho(t)
		r, _, _ := run(t, e, c.source, int64(len(c.want)), func(c *Config, _ *loadplan.Plan) {
			c.Args = []string{"one", "two"}
			c.Getenv = func(name string) (string, bool) { return "me", name == "WHO" }
		})
		for i, want := range c.want {
			c.want[i] = strings.ReplaceAll(want, "HOST", strings.TrimPrefix(e.URL, "http://"))
		}
		if !slices.Equal(e.got, c.want) || r.Total.Completed != int64(len(c.want)) {
			t.Errorf("%s: %q, want %q; %+v", name, e.got, c.want, r.Failures)
		}
	}
}

// Own scripts do what wrk's examples do.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*.lua")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e := newEcho(t)
		r, m, _ := run(t, e, string(text), 12, func(c *Config, p *loadplan.Plan) {
			c.Name, c.Threads, p.Threads, p.Connections = file, 2, 2, 2
			c.Lookup = func() ([]netip.AddrPort, error) {
				return []netip.AddrPort{netip.MustParseAddrPort(c.Request.Authority)}, nil
			}
		})
		if r.Ended == loadresult.Faulted || r.Total.Completed == 0 {
			t.Errorf("%s: %s, %s, %d completed", file, r.Ended, r.Cause, r.Total.Completed)
		}
		if err := m.Done(Summary{Duration: 1, Requests: 12, Measures: r.Scenario.Measures}); err != nil {
			t.Error(err)
		}
	}
}

// response is given status, header and body, also of an error; names of fields are found in any
// case.
func TestResponses(t *testing.T) {
	e := newEcho(t)
	r, m, out := run(t, e, `path = "/authenticate"
		function request() return wrk.format("GET", path) end
		function response(status, headers, body)
			print(status, headers["X-Token"], headers["x-token"], headers["X-None"], body)
			path = "/bad"
			wrk.headers["X-Token"] = headers["X-Token"]
		end
		function done(summary, latency, requests)
			print(summary.requests, summary.errors.status, latency.max, #latency, latency:percentile(50), latency(2))
		end`, 2, nil)
	want := "200\tt1\tt1\tnil\tyou sent /authenticate\n500\tt1\tt1\tnil\tyou sent /bad\n"
	if out != want || r.Total.Failed != 1 || len(e.got) != 2 || !strings.Contains(e.got[1], "X-Token=t1") {
		t.Errorf("%q, want %q; %q", out, want, e.got)
	}
	var b bytes.Buffer
	m.Output = &b
	err := m.Done(Summary{Requests: 2, Status: 1, Latency: NewStatistics([]float64{1, 2, 9})})
	if err != nil || b.String() != "2\t1\t9\t3\t2\t2\t1\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// Counters, histograms and checks of all threads are added up.
func TestMeasures(t *testing.T) {
	e := newEcho(t)
	const n = 40
	r, m, out := run(t, e, `function setup(thread) thread:set("who", "t") end
		function response(status, headers, body)
			dyno.counter("answers " .. who):add()
			dyno.counter("halves"):add(0.5)
			dyno.histogram("length"):record(#body + 0.5)
			dyno.check("is 200", status == 200)
			dyno.check("odd one", status == 201)
		end
		function done(summary)
			print(dyno.counter("halves"):value(), #dyno.histogram("length"), dyno.histogram("length").max,
				summary.checks["is 200"].passed)
		end`, n, func(c *Config, p *loadplan.Plan) {
		c.Threads, p.Threads, p.Connections = 4, 4, 4
	})
	all := r.Scenario.Measures
	if len(all) != 3 || all[0].Name != "answers t" || all[0].Sum != n || all[1].Sum != n/2 ||
		all[2].Histogram.Count != n || all[2].Histogram.Max != 10500 {
		t.Errorf("%+v; %s", all, out)
	}
	checks := r.Scenario.Checks
	if len(checks) != 2 || checks[0].Passed != n || checks[1].Failed != n || r.Total.Failed != n {
		t.Errorf("%+v, %d failed", checks, r.Total.Failed)
	}
	var b bytes.Buffer
	m.Output = &b
	if err := m.Done(Summary{Measures: all, Checks: []Check{{"is 200", n, 0}}}); err != nil || b.String() != "20\t40\t10.5\t40\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// A thread that stops sends nothing more; the others go on.
func TestStop(t *testing.T) {
	e := newEcho(t)
	r, _, _ := run(t, e, `n = 0
		function response() n = n + 1; if n == 3 then wrk.thread:stop() end end`, 0,
		func(c *Config, p *loadplan.Plan) { p.Duration = loadplan.Seconds(time.Minute) })
	if r.Ended != loadresult.Stopped || len(e.got) != 3 || r.Total.Completed != 3 {
		t.Errorf("%s after %q", r.Ended, e.got)
	}
}

// delay is the pause before a request.
func TestDelay(t *testing.T) {
	e := newEcho(t)
	r, m, out := run(t, e, `n = 0
		function delay() n = n + 1; print(n); return "0.5" end`, 3, nil)
	if out != "1\n2\n3\n" || r.Total.Completed != 3 || !m.delays || !r.Plan.MayIdle() {
		t.Errorf("%q", out)
	}
}

// remade is a plan as another process gets it.
func remade(p loadplan.Plan) (there loadplan.Plan, err error) {
	b, err := loadplan.Pack(p)
	if err == nil {
		there, err = loadplan.Unpack(b)
	}
	if err == nil {
		err = Remake(&there)
	}
	return there, err
}

// A plan for another process carries the script. Nothing of it runs before the load does, and then
// it sends what it would here.
func TestPack(t *testing.T) {
	e := newEcho(t)
	var out bytes.Buffer
	c := configOf(e.URL, `print("run")
		function init(a) path = "/" .. a[1] end
		function request() return wrk.format(nil, path) end
		function response(status, headers)
			dyno.counter("n"):add(#headers["X-Token"])
			dyno.check("ok", status == 200)
		end`, &out)
	c.Args = []string{"far"}
	m, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	p := loadplan.DefaultPlan()
	at := netip.MustParseAddrPort(c.Request.Authority)
	p.Target = loadplan.Target{URL: e.URL, Host: at.Addr().String(), Port: at.Port()}
	p.Connections, p.Threads, p.Requested, p.Duration = 2, 2, 10, 0
	p.Drain = loadplan.Seconds(time.Minute)
	m.SetPlan(&p)
	there, err := remade(p)
	if err != nil || there.Script.Text != "" || there.Scenario.(*Maker).main != nil {
		t.Fatal(err, there.Script)
	}
	if w, want := there.Want(), p.Want(); w.AllFields != want.AllFields || w.Body != want.Body {
		t.Errorf("%+v, want %+v", w, want)
	}
	there.TellScenario(nil)
	r, err := load.Run(context.Background(), there, func(loadresult.Interval) {})
	if err != nil {
		t.Fatal(err)
	}
	all := r.Scenario.Measures
	if len(e.got) != 10 || !strings.HasPrefix(e.got[9], "GET /far ") || len(all) != 1 || all[0].Sum != 20 ||
		r.Scenario.Checks[0].Passed != 10 {
		t.Errorf("%q, %+v", e.got, all)
	}
}

// A script of a plan that cannot begin elsewhere is an error there.
func TestPackedFault(t *testing.T) {
	c := configOf("http://127.0.0.1:1", `if os.getenv("HERE") == nil then error("elsewhere") end`, nil)
	c.Getenv = func(string) (string, bool) { return "yes", true }
	m, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: c.URL, Host: "127.0.0.1", Port: 1}
	m.SetPlan(&p)
	there, err := remade(p)
	if err != nil {
		t.Fatal(err)
	}
	_, err = load.Run(context.Background(), there, func(loadresult.Interval) {})
	if err == nil || !strings.Contains(err.Error(), "x.lua:1: elsewhere") {
		t.Error(err)
	}
}
