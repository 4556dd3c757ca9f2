// Package dynotest loads an http.Handler in a test or a benchmark of Go's testing package. The
// handler is served on a loopback port of its own, for as long as the load lasts.
//
//	func TestFast(t *testing.T) {
//		dynotest.Objective(t, handler, "p99<5ms, errors<0.1%", dyno.Load{Rate: 500, For: time.Second})
//	}
//
//	func BenchmarkHandler(b *testing.B) { dynotest.Benchmark(b, handler, dyno.Load{}) }
//
// In CI, set the environment variable DYNOTEST_STRICT. Without it, a miss that may be the machine's
// fault skips the test: see Objective.
package dynotest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"dyno"
)

// Objective loads handler with l, and returns what it measured. It fails the test, or skips it (see
// below), unless all objectives are met, such as "p99<5ms, errors<0.1%", and those of l too. A load
// that cannot be made fails and ends the test.
//
// l.URL is a path, and "" is "/". The other fields of l have the defaults of dyno.Load, except that
// l.Drain is 10 s if it is 0. A load without l.For and l.Requests takes 10 s.
//
// A MISS CAN SKIP THE TEST INSTEAD OF FAILING IT. If an objective of time or rate is missed while
// dyno does not trust its own numbers (Result.Generator is not dyno.OK), Objective skips the test,
// and the log says why: a machine that was busy shows nothing about the handler. In CI a regression
// can stay green that way. Set the environment variable DYNOTEST_STRICT there, to 1 say: then each
// missed objective fails the test. Objectives of errors and checks always fail it. A load of less
// than a second is too short for dyno to judge itself: each miss fails the test then, too.
func Objective(t testing.TB, handler http.Handler, objectives string, l dyno.Load) *dyno.Result {
	t.Helper()
	l.Objectives = append(l.Objectives[:len(l.Objectives):len(l.Objectives)], objectives)
	r := serve(t, handler, l)
	doubted, strict := false, os.Getenv(strictName) != ""
	for _, o := range r.Objectives {
		switch {
		case o.Met:
		case r.Generator != dyno.OK && r.Completed > 0 && (o.Unit == "us" || o.Unit == "per_s"):
			doubted = true
			t.Logf("%s: missed, but the measurement is %s: %s", o.Objective, r.Generator,
				strings.Join(r.Reasons, "; "))
			if strict {
				t.Errorf("%s: missed, and %s is set: %v", o.Objective, strictName, r)
			}
		case o.Value == nil:
			t.Errorf("%s: missed, nothing was measured: %v", o.Objective, r)
		default:
			t.Errorf("%s: missed, %.4g %s: %v", o.Objective, *o.Value, o.Unit, r)
		}
	}
	if doubted && !t.Failed() {
		t.Skip("an objective was missed in a measurement that cannot be trusted; with " + strictName +
			"=1 that fails the test")
	}
	return r
}

// strictName is the environment variable with which nothing that was missed is skipped.
const strictName = "DYNOTEST_STRICT"

// Benchmark sends b.N requests (with l.Scenario: iterations) to handler, as l says, and needs no
// loop. It reports ns/op, p50-ns, p99-ns, req/s and errors/op, which benchstat reads.
//
// An op is a request, also where b.N counts iterations: ns/op is the measured time divided by the
// number of requests sent. It is not a latency, since several connections work at once. p50-ns and
// p99-ns are latencies.
//
// l.URL is a path, and "" is "/". l.Connections is 16 if it is 0, and at most b.N. l.Requests and
// l.For are not used, and l.Objectives decides nothing. The benchmark fails if no request was
// answered as expected.
func Benchmark(b *testing.B, handler http.Handler, l dyno.Load) {
	b.Helper()
	l.Requests, l.For = int64(b.N), 0
	if l.Connections == 0 {
		l.Connections = 16
	}
	l.Connections = min(l.Connections, b.N)
	r := serve(b, handler, l)
	if r.Completed == 0 {
		b.Fatalf("nothing was answered as expected: %v", r)
	}
	perRequest := func(n float64) float64 { return n / float64(max(r.Sent, 1)) }
	b.ReportMetric(perRequest(float64(r.Measured.Nanoseconds())), "ns/op")
	b.ReportMetric(float64(r.Latency.P50.Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(r.Latency.P99.Nanoseconds()), "p99-ns")
	b.ReportMetric(r.Rate, "req/s")
	b.ReportMetric(perRequest(float64(r.Errors)), "errors/op")
}

// serve makes the load of a handler. The test ends if it cannot be made.
func serve(t testing.TB, handler http.Handler, l dyno.Load) *dyno.Result {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	if strings.Contains(l.URL, "://") {
		t.Fatalf("URL: %q names a server; give a path, or nothing", l.URL)
	}
	l.URL = server.URL + "/" + strings.TrimPrefix(l.URL, "/")
	if l.Drain == 0 {
		l.Drain = 10 * time.Second // of a busy machine
	}
	r, err := dyno.Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
