package dyno_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dyno"
	"dyno/internal/engine/proxyproto/proxytest"
)

// A status server answers /404 with status 404, and all else with 200.
func statusServer(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/404" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// pages is a Scenario that sends so many requests to a path, whatever the answers are, and ends by
// end.
func pages(n int, path string, end error) dyno.Scenario {
	return func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		sent, _ := u.State.(int)
		if last == nil {
			sent = 0
		}
		if u.State = sent + 1; sent == n {
			return nil, end
		}
		return &dyno.Request{Path: path}, nil
	}
}

// What a Scenario does is in the result: requests, iterations and failures add up as the comments
// say.
func TestScenarioCounts(t *testing.T) {
	server := statusServer(t)
	refused := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		return &dyno.Request{Path: "/with blank"}, nil
	}
	for name, test := range map[string]struct {
		does                        dyno.Scenario
		steps                       []string
		completed, errors, iterated int64 // of 6 iterations
		failure                     string
	}{
		"one request":           {pages(1, "/", nil), nil, 6, 0, 6, ""},
		"one step, thrice":      {pages(3, "/", nil), []string{"page"}, 18, 0, 6, ""},
		"two steps, one thrice": {pages(3, "/", nil), []string{"page", "never"}, 18, 0, 6, ""},
		"nothing at all":        {pages(0, "/", nil), nil, 0, 0, 6, ""},
		"404 goes on":           {pages(2, "/404", nil), []string{"page"}, 0, 12, 6, "expect status 404 12"},
		"not accepted":          {pages(1, "/", errors.New("no")), nil, 0, 6, 0, "check scenario no 6"},
		"the last of two": {pages(2, "/", errors.New("no")), []string{"page"}, 6, 6, 0,
			"check scenario no 6"},
		"404, not accepted": {pages(1, "/404", errors.New("no")), nil, 0, 6, 0, "expect status 404 6"},
		"an error at once":  {pages(0, "/", errors.New("no")), nil, 0, 0, 0, "check value no 6"},
		"cannot be sent": {refused, nil, 0, 0, 0, `check value "GET" "/with blank": path ` +
			`"/with blank" contains a space or a control character; write it as %20 or the like 6`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: test.does,
				Steps: test.steps, Connections: 2, Requests: 6, Drain: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			i := r.Iterations
			if r.Completed != test.completed || r.Errors != test.errors || i.Started != 6 ||
				i.Completed != test.iterated || i.Failed != 6-test.iterated || i.Unfinished != 0 {
				t.Errorf("%d completed, %d errors, iterations %+v", r.Completed, r.Errors, i)
			}
			var failures []string
			for _, f := range r.Failures {
				failures = append(failures, fmt.Sprint(f.Phase, " ", f.Kind, " ", f.Detail, " ", f.Count))
			}
			if got := strings.Join(failures, ", "); got != test.failure {
				t.Errorf("failures %q", got)
			}
			if (len(r.Steps) == 2) != (len(test.steps) == 2) {
				t.Errorf("steps %+v", r.Steps)
			}
			checkStored(t, r)
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkStored checks that a result is what it was once it was stored and read.
func checkStored(t *testing.T, r *dyno.Result) {
	t.Helper()
	var again dyno.Result
	if err := json.Unmarshal([]byte(jsonOf(t, r)), &again); err != nil {
		t.Fatal(err)
	}
	if again.String() != r.String() || again.Iterations.Started != r.Iterations.Started ||
		again.Offered != r.Offered || again.Seed != r.Seed || len(again.Steps) != len(r.Steps) {
		t.Errorf("stored: %v\nwas %v", &again, r)
	}
}

// A Response has the step that it answers, also where steps have no names.
func TestResponseStep(t *testing.T) {
	server := statusServer(t)
	for _, steps := range [][]string{nil, {"a"}, {"b", "a"}} {
		var got []string
		does := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
			if last == nil {
				return &dyno.Request{}, nil
			}
			if got = append(got, last.Step); len(steps) > 0 && len(got) == 1 {
				return &dyno.Request{Step: "a"}, nil
			}
			return nil, nil
		}
		want := map[int]string{0: "", 1: "a a", 2: "b a"}[len(steps)]
		_, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: does, Steps: steps,
			Users: 1, Connections: 1, Requests: 1, Drain: time.Minute})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("steps %q: %q, %v", steps, got, err)
		}
	}
}

// With a Scenario the rate is that of iterations, and what was never begun is counted.
func TestOfferedIterations(t *testing.T) {
	server := statusServer(t)
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: pages(2, "/", nil),
		Steps: []string{"page", "other"}, Rate: 500, Requests: 50, Connections: 4, Drain: time.Minute,
		Objectives: []string{"iteration.max<1h, checks>99%, route.page.p90<1h", "checks.scenario>=100%"}})
	if err != nil || r.Offered != 500 || r.Unsent != 0 || r.Completed != 100 ||
		r.Iterations.Completed != 50 || r.Iterations.Rate <= 0 || r.Iterations.Time.Count != 50 || !r.Met() {
		t.Errorf("%+v, %v", r, err)
	}
	checkStored(t, r)
}

// Requests that were due and never sent are counted.
func TestUnsent(t *testing.T) {
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer server.Close()
	defer close(over)
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Rate: 1000, Connections: 1,
		For: 100 * time.Millisecond, Drain: time.Millisecond})
	if err != nil || r.Sent > 1 || r.Unfinished != r.Sent || r.Sent+r.Unsent != 100 {
		t.Errorf("%d sent, %d unfinished, %d unsent, %v", r.Sent, r.Unfinished, r.Unsent, err)
	}
}

// closing is a server that answers the first request of a connection, and closes it at the second.
// received counts both.
func closing(t *testing.T, received *atomic.Int64) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(c net.Conn) {
		defer c.Close()
		in := bufio.NewReader(c)
		for i := range 2 {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			io.Copy(io.Discard, r.Body)
			if received.Add(1); i == 0 {
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return "http://" + l.Addr().String()
}

// Connections begin with the header that ProxyProtocol says; a version that is none is a fault of it.
func TestProxyProtocol(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	l := proxytest.Wrap(t, s.Listener, "v2")
	s.Listener = l
	s.Start()
	defer s.Close()
	load := dyno.Load{URL: s.URL, Connections: 2, Requests: 10, ProxyProtocol: "v2"}
	if r, err := dyno.Run(t.Context(), load); err != nil || r.Sent != 10 || r.Errors != 0 || l.Accepted.Load() != 2 {
		t.Errorf("%+v, %v, %d connections", r, err, l.Accepted.Load())
	}
	load.ProxyProtocol = "v3"
	if _, err := dyno.Run(t.Context(), load); err == nil || !strings.Contains(err.Error(), `ProxyProtocol: "v3" is not v1 or v2`) {
		t.Error(err)
	}
}

// A request is sent twice if its connection was closed before an answer, as the comment of Load
// says: if its method is idempotent, or with RetryUnsafe.
func TestSentTwice(t *testing.T) {
	for method, errors := range map[string]int64{"plain POST": 5, "unsafe POST": 0, "GET": 0, "POST": 5,
		"PUT": 0} {
		var received atomic.Int64
		load := dyno.Load{URL: closing(t, &received), Connections: 1, Requests: 10}
		if load.RetryUnsafe = method == "unsafe POST"; strings.Contains(method, " ") {
			load.Method, load.Body = "POST", []byte("pencil")
		} else {
			load.Scenario = func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
				if last != nil {
					return nil, nil
				}
				return &dyno.Request{Method: method}, nil
			}
		}
		r, err := dyno.Run(context.Background(), load)
		if err != nil || r.Sent != 10 || r.Errors != errors || (received.Load() > 10) != (errors == 0) {
			t.Errorf("%q: %d received, %d sent, %d errors, %v", method, received.Load(), r.Sent, r.Errors, err)
		}
	}
}

// A Scenario that panics ends the load, and not the program.
func TestScenarioPanics(t *testing.T) {
	server := statusServer(t)
	does := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) { panic("a mistake") }
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: does, Connections: 2,
		For: time.Minute})
	if r != nil || err == nil || !strings.Contains(err.Error(), "a mistake") {
		t.Errorf("%v, %v", r, err)
	}
}

// A Response that a test makes has what the test gives it, and nothing else.
func TestOwnResponse(t *testing.T) {
	fields := http.Header{"Empty": {}, "Token": {"first", "second"}, "lower": {"case"}}
	for name, want := range map[string]string{"token": "first", "LOWER": "case", "Empty": "", "None": ""} {
		if got := (&dyno.Response{Fields: fields}).Header(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		if got := new(dyno.Response).Header(name); got != "" {
			t.Errorf("%s of nothing is %q", name, got)
		}
	}
}
