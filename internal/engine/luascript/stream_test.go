package luascript

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/scenario"
)

// chat logs in, and then has streams: the answer to a login is none.
const chat = `function request()
	if not dyno.user.token then return wrk.format("POST", "/login") end
	dyno.stream("openai")
	return wrk.format("POST", "/chat", {["X-Token"] = dyno.user.token})
end
function response(status, headers, body)
	dyno.user.token = dyno.user.token or headers["X-Token"]
	if body:find("DONE", 1, true) then dyno.counter("whole"):add() end
end`

// newChat is a server of logins and of streams of three events; one of four ends early.
func newChat(t *testing.T) (s *httptest.Server, chats *atomic.Int64) {
	chats = &atomic.Int64{}
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			w.Header().Set("X-Token", "t1")
			io.WriteString(w, "welcome")
			return
		}
		if r.Header.Get("X-Token") != "t1" {
			w.WriteHeader(403)
			return
		}
		for range 3 {
			io.WriteString(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n")
		}
		if chats.Add(1)%4 != 0 {
			io.WriteString(w, "data: [DONE]\n\n")
		}
	}))
	t.Cleanup(s.Close)
	return s, chats
}

// chatPlan is a load of a server with a script: two users send eleven requests each.
func chatPlan(t *testing.T, url, source string) loadplan.Plan {
	t.Helper()
	m, err := Compile(configOf(url, source, nil))
	if err != nil {
		t.Fatal(err)
	}
	p := loadplan.DefaultPlan()
	at := netip.MustParseAddrPort(m.Request.Authority)
	p.Target = loadplan.Target{URL: url, Host: at.Addr().String(), Port: at.Port()}
	p.Connections, p.Threads, p.Users, p.Requested, p.Duration = 2, 1, 2, 22, 0
	p.Drain = loadplan.Seconds(time.Minute)
	m.SetPlan(&p)
	return p
}

// A script says of each request whether its answer is a stream, here and where it was sent to.
func TestMarkedStreams(t *testing.T) {
	for _, packed := range []bool{false, true} {
		s, chats := newChat(t)
		p := chatPlan(t, s.URL, chat)
		if p.Stream.Format != "openai" || !p.Stream.Marked {
			t.Fatalf("%+v", p.Stream)
		}
		if packed {
			var err error
			if p, err = remade(p); err != nil || !p.Stream.Marked {
				t.Fatal(err, p.Stream)
			}
			p.TellScenario(nil)
		}
		r, err := load.Run(context.Background(), p, func(loadresult.Interval) {})
		if err != nil {
			t.Fatal(err)
		}
		n := chats.Load()
		x, errors := r.Total.Stream, n/4
		if n != 20 || r.Total.Completed != 22-errors || x.Counted != 3*n || x.First.Count != n ||
			x.Events.Count != n-errors || r.Scenario.Measures[0].Sum != float64(n-errors) {
			t.Errorf("packed %t: %d chats, %d completed, %+v, %+v", packed, n, r.Total.Completed, x.StreamCounts, r.Failures)
		}
		for _, f := range r.Failures {
			if f.Phase != loadresult.Stream || f.Count != errors {
				t.Errorf("packed %t: %+v", packed, f)
			}
		}
	}
}

// What a marked request() returns is marked as a whole, and what the next one returns is not.
func TestMarkOfSeveral(t *testing.T) {
	c := configOf("http://127.0.0.1:1", `n = 0
		function request()
			n = n + 1
			if n % 2 == 0 then dyno.stream("sse"); return wrk.format() .. wrk.format() end
			return wrk.format()
		end`, nil)
	m, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	if m.StreamsFirst() {
		t.Error("the first request is marked")
	}
	s, err := m.Make(scenario.Share{Users: 1})
	if err != nil {
		t.Fatal(err)
	}
	var plain []bool
	u := &scenario.User{}
	for range 6 {
		plain = append(plain, s.Start(u).Plain)
	}
	if got := fmt.Sprint(plain); got != "[false false true false false true]" {
		t.Errorf("plain: %s", got)
	}
}

// What cannot be is refused before the load, with its line.
func TestStreamMarkFaults(t *testing.T) {
	const in = "function request()\n %s\n return wrk.format()\nend"
	for mark, want := range map[string]string{
		`dyno.stream("avro")`:         `x.lua:2: dyno.stream: "avro" is no format of a stream: write one of sse, ndjson, chunks, openai, anthropic, ollama`,
		`dyno.stream()`:               `x.lua:2: dyno.stream: write the format as text, as dyno.stream("openai")`,
		`dyno.stream(os.getenv("F"))`: `x.lua:2: dyno.stream: write the format as text`,
		`if nil then dyno.stream("sse") end dyno.stream("ndjson")`:    `x.lua:2: one load cannot have streams of both sse and ndjson`,
		`local s = dyno.stream; s("s" .. "se")`:                       `x.lua:2: dyno.stream: the format "sse" is not written in the script as dyno.stream("sse")`,
		`dyno.stream("sse"); wrk.method = "HEAD"`:                     `x.lua:1: what request() returned cannot be sent: the answer to HEAD has no body, so it is no stream`,
		`dyno.stream("sse"); wrk.headers["accept-encoding"] = "gzip"`: `x.lua:1: what request() returned cannot be sent: dyno cannot tell the events of a compressed answer apart`,
	} {
		_, err := Compile(configOf("http://127.0.0.1:1", fmt.Sprintf(in, mark), nil))
		if got := fmt.Sprint(err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s\nwant %s", mark, got, want)
		}
	}
	for source, want := range map[string]string{
		`dyno.stream("sse")`:                          `x.lua:1: dyno.stream is about what request() returns: call it there`,
		"function init()\n dyno.stream('sse')\nend":   `x.lua:2: dyno.stream is about what request() returns`,
		"function setup(t)\n dyno.stream('sse')\nend": `x.lua:2: dyno.stream is about what request() returns`,
	} {
		if _, err := Compile(configOf("http://127.0.0.1:1", source, nil)); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: %v\nwant %s", source, err, want)
		}
	}
	for source, want := range map[string]string{"dyno.stream('sse'": "x.lua: syntax error", "dyno.stream('x')": "x.lua:1: dyno.stream: ",
		"os.exit()": "x.lua:1: os.exit is not available"} {
		if _, err := StreamFormat("x.lua", source); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: %v\nwant %s", source, err, want)
		}
	}
	if format, err := StreamFormat("x.lua", "error('it runs')\ndyno.stream('ollama')"); format != "ollama" || err != nil {
		t.Errorf("%q, %v", format, err)
	}
}

// Under load a mark in response() ends the run, and so does one whose plan says something else.
func TestStreamMarkFaultsUnderLoad(t *testing.T) {
	e := newEcho(t)
	r, _, _ := run(t, e, "function request() return wrk.format() end\nfunction response()\n dyno.stream('sse')\nend", 10, nil)
	if want := "x.lua:3: dyno.stream is about what request() returns"; r.Ended != loadresult.Faulted || !strings.HasPrefix(r.Cause, want) {
		t.Errorf("%s: %q", r.Ended, r.Cause)
	}
	p := chatPlan(t, e.URL, chat)
	p.Stream.Format = "sse"
	there, err := remade(p)
	if err != nil {
		t.Fatal(err)
	}
	_, err = load.Run(context.Background(), there, func(loadresult.Interval) {})
	if want := `x.lua has streams of the format "openai", and the plan "sse"`; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
