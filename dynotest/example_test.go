package dynotest_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"dyno"
	"dyno/dynotest"
)

var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, "hello")
})

// A test hands over its t. An example has none, so here t is a stand-in that notes what becomes of
// the test. The load is 200 requests, 1,000 a second, all of which must be answered.
func ExampleObjective() {
	t := &recorder{}
	r := dynotest.Objective(t, hello, "errors<0.1%", dyno.Load{Rate: 1000, Requests: 200})
	fmt.Println(r.Completed, "completed, failed:", t.failed)
	// Output: 200 completed, failed: false
}

// In a benchmark: benchstat reads the lines that go test -bench prints.
func ExampleBenchmark() {
	r := testing.Benchmark(func(b *testing.B) {
		dynotest.Benchmark(b, hello, dyno.Load{Connections: 4})
	})
	fmt.Println(r.N > 0, r.Extra["p99-ns"] >= r.Extra["p50-ns"], r.Extra["errors/op"])
	// Output: true true 0
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
func (v *recorder) Helper()                         {}
func (v *recorder) Context() context.Context        { return context.Background() }
func (v *recorder) Fatal(args ...any)               { panic(fmt.Sprint(args...)) }
func (v *recorder) Logf(format string, args ...any) { v.text += fmt.Sprintf(format, args...) }
func (v *recorder) Skip(args ...any)                { v.skipped = true }
func (v *recorder) Failed() bool                    { return v.failed }

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

// busy is a Scenario that keeps the generator's thread busy, so that its numbers cannot be trusted.
func busy(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
	for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
	}
	if last != nil {
		return nil, nil
	}
	return &dyno.Request{}, nil
}
