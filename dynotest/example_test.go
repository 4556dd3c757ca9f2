package dynotest_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dyno"
	"dyno/dynotest"
)

var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, "hello")
})

// The handler gets 200 requests, 1,000 a second, and fewer than 0.1 % may be errors. In a test, t
// is the *testing.T. An example has none, so here a recorder stands in, and notes a failure.
func ExampleObjective() {
	t := &recorder{}
	r := dynotest.Objective(t, hello, "errors<0.1%", dyno.Load{Rate: 1000, Requests: 200})
	fmt.Println(r.Completed, "completed, failed:", t.failed)
	// Output: 200 completed, failed: false
}

// BenchmarkHello(b) would call dynotest.Benchmark(b, hello, dyno.Load{Connections: 4}) and nothing
// else. This example runs that function as go test -bench does.
func ExampleBenchmark() {
	r := testing.Benchmark(func(b *testing.B) {
		dynotest.Benchmark(b, hello, dyno.Load{Connections: 4})
	})
	fmt.Println(r.N > 0, r.Extra["p99-ns"] >= r.Extra["p50-ns"], r.Extra["errors/op"])
	// Output: true true 0
}

// What Benchmark ignores can be anything.
func TestBenchmarkIgnores(t *testing.T) {
	r := testing.Benchmark(func(b *testing.B) {
		dynotest.Benchmark(b, hello, dyno.Load{Requests: -1, For: -1, Objectives: []string{"nothing"}})
	})
	if r.N == 0 || r.Extra["req/s"] == 0 {
		t.Errorf("%+v", r)
	}
}

func BenchmarkHello(b *testing.B) { dynotest.Benchmark(b, hello, dyno.Load{Connections: 4}) }

// A recorder stands in for a *testing.T, and notes what becomes of the test.
type recorder struct {
	testing.TB      // nil: the methods below are all that Objective calls
	failed, skipped bool
	text            string
}

func (v *recorder) Errorf(format string, args ...any) {
	v.failed = true
	v.text += fmt.Sprintf(format, args...)
}
func (v *recorder) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (v *recorder) Helper()                           {}
func (v *recorder) Context() context.Context          { return context.Background() }
func (v *recorder) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (v *recorder) Logf(format string, args ...any)   { v.text += fmt.Sprintf(format, args...) }
func (v *recorder) Skip(args ...any)                  { v.skipped = true }
func (v *recorder) Failed() bool                      { return v.failed }

// What is missed fails a test; a time that is missed in a measurement that cannot be trusted skips
// it, unless DYNOTEST_STRICT is set.
func TestObjectiveMissed(t *testing.T) {
	bad := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
	slow := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Millisecond) })
	// What takes less than a second is not doubted.
	doubted := dyno.Load{Requests: 150, Connections: 2, Threads: 1, Scenario: busy}
	for _, test := range []struct {
		handler   http.Handler
		objective string
		load      dyno.Load
		strict    string
		doubted   bool // the load is one that dyno does not trust; false: it may be
	}{
		{bad, "errors<1%", dyno.Load{Requests: 20, Connections: 2}, "", false},
		{slow, "p50<1ms", dyno.Load{Requests: 100, Connections: 2, URL: "slow"}, "", false},
		{slow, "p50<1ms", doubted, "", true},
		{slow, "p50<1ms", doubted, "1", true},
		{bad, "errors<1%", doubted, "", true},
	} {
		t.Setenv("DYNOTEST_STRICT", test.strict)
		v := &recorder{}
		r := dynotest.Objective(v, test.handler, test.objective, test.load)
		if test.doubted && r.Generator == dyno.OK {
			t.Errorf("a load whose Scenario is slow is %s", r.Generator)
		}
		fails := r.Generator == dyno.OK || test.strict != "" || test.objective == "errors<1%"
		if v.failed != fails || v.skipped == fails {
			t.Errorf("%+v, %s: failed %v, skipped %v: %s", test, r.Generator, v.failed, v.skipped, v.text)
		}
	}
}

// What was measured has no exponent, however large it is.
func TestMissHasNoExponent(t *testing.T) {
	slow := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(12 * time.Millisecond) })
	t.Setenv("DYNOTEST_STRICT", "")
	v := &recorder{}
	r := dynotest.Objective(v, slow, "p50<1ms", dyno.Load{Requests: 2, Connections: 1})
	figure := regexp.MustCompile(`missed, [0-9,]*[0-9]{2},[0-9]{3} us: `)
	if strings.Contains(v.text, "e+0") || r.Generator == dyno.OK && !figure.MatchString(v.text) {
		t.Errorf("%s: %s", r.Generator, v.text)
	}
}

// A path may have a URL in its query, and names no server.
func TestPath(t *testing.T) {
	for path, want := range map[string]string{"": "/", "a?b=c": "/a?b=c", "/a": "/a",
		"/login?next=http://x.example/": "/login?next=http://x.example/"} {
		var got atomic.Value
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got.Store(r.RequestURI)
		})
		v := &recorder{}
		dynotest.Objective(v, handler, "errors<1%", dyno.Load{URL: path, Connections: 1, Requests: 1})
		if got.Load() != want || v.failed {
			t.Errorf("%q: %v, %s", path, got.Load(), v.text)
		}
	}
	for _, url := range []string{"http://127.0.0.1:1/", "http+unix:///x:/"} {
		v := &recorder{}
		refused := func() (err any) {
			defer func() { err = recover() }()
			dynotest.Objective(v, hello, "errors<1%", dyno.Load{URL: url})
			return nil
		}()
		if refused == nil {
			t.Errorf("%s was loaded", url)
		}
	}
}

// busy is a Scenario that keeps the generator's thread busy, so that its numbers cannot be trusted.
func busy(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
	for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
	}
	if last != nil {
		return nil, nil
	}
	return &dyno.Request{}, nil
}
