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

// In a test, t is the test's: 200 requests, 1,000 a second, all of which must be answered.
func ExampleObjective() {
	t := &verdict{}
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

// A verdict is a test of which we see what it comes to.
type verdict struct {
	testing.TB      // which is nil: these are all methods that are called
	failed, skipped bool
	text            string
}

func (v *verdict) Errorf(format string, args ...any) {
	v.failed = true
	v.text += fmt.Sprintf(format, args...)
}
func (v *verdict) Helper()                         {}
func (v *verdict) Context() context.Context        { return context.Background() }
func (v *verdict) Fatal(args ...any)               { panic(fmt.Sprint(args...)) }
func (v *verdict) Logf(format string, args ...any) { v.text += fmt.Sprintf(format, args...) }
func (v *verdict) Skip(args ...any)                { v.skipped = true }
func (v *verdict) Failed() bool                    { return v.failed }

// What is missed fails a test; what is missed in a measurement that cannot be trusted skips it.
func TestObjectiveMissed(t *testing.T) {
	v := &verdict{}
	bad := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
	dynotest.Objective(v, bad, "errors<1%", dyno.Load{Requests: 20, Connections: 2})
	if !v.failed || v.skipped {
		t.Errorf("errors only: failed %v, skipped %v: %s", v.failed, v.skipped, v.text)
	}
	slow := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Millisecond) })
	v = &verdict{}
	r := dynotest.Objective(v, slow, "p50<1ms", dyno.Load{Requests: 100, Connections: 2, URL: "slow"})
	if v.failed == v.skipped || v.failed != (r.Generator == dyno.OK) {
		t.Errorf("slow, %s: failed %v, skipped %v: %s", r.Generator, v.failed, v.skipped, v.text)
	}
}
