// Package dynotest loads an http.Handler in a test or a benchmark of Go's testing package. The
// handler is served on a loopback port of its own, by HTTP/1.1 without TLS, until the load is over.
//
//	func TestFast(t *testing.T) {
//		dynotest.Objective(t, handler, "p99<5ms, errors<0.1%", dyno.Load{Rate: 500, For: time.Second})
//	}
//
//	func BenchmarkHandler(b *testing.B) { dynotest.Benchmark(b, handler, dyno.Load{}) }
//
// In CI, set the environment variable DYNOTEST_STRICT to 1. Without it, Objective skips the test if
// the machine may be why an objective was missed.
package dynotest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"dyno"
	"dyno/internal/digits"
)

// Objective serves handler, makes the load l, and returns its Result. If an objective is missed,
// the test fails. Objectives are those of dyno.Load: "p99<5ms, errors<0.1%", for example. Those of
// l.Objectives have to be met too. If dyno.Run returns an error, the test fails and ends.
//
// l.URL is a path, with its query if it has one: "/search?q=pen". "" is "/". The other fields have
// the defaults of dyno.Load, but l.Drain is 10 s if it is 0. A load without l.For and l.Requests
// takes 10 s. Leave the objectives room: handler and load share the machine.
//
// # A miss can skip the test
//
// On a busy machine every handler is slow. If dyno does not trust its own numbers (Result.Generator
// is not dyno.OK), and an objective of time or rate is missed, Objective skips the test and logs
// why. So a regression can stay green in CI. There, set the environment variable DYNOTEST_STRICT to
// 1, or to anything else but "". Then such a miss fails the test.
//
// A missed objective of errors or checks always fails the test. In a window of less than a second
// dyno does not check how busy the machine is, so that a miss fails the test, as a rule.
func Objective(t testing.TB, handler http.Handler, objectives string, l dyno.Load) *dyno.Result {
	t.Helper()
	l.Objectives = append(l.Objectives[:len(l.Objectives):len(l.Objectives)], objectives)
	r := serve(t, handler, l)
	doubted, strict := false, os.Getenv(strictName) != ""
	for _, o := range r.Objectives {
		switch {
		case o.Met:
		case o.Needs > 0:
			t.Errorf("%s: cannot be judged: it takes at least %d values: %v", o.Objective, o.Needs, r)
		case o.Undecided:
			t.Errorf("%s: cannot be judged: %s: %v", o.Objective, o.Note, r)
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
			t.Errorf("%s: missed, %s %s: %v", o.Objective, digits.Significant(*o.Value, 4), o.Unit, r)
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

// Benchmark sends b.N requests to handler, as l says. With l.Scenario it begins b.N iterations.
// Call it once, without a loop. It reports these values, which benchstat reads:
//
//	ns/op           the measured time divided by the number of requests sent
//	p50-ns p99-ns   latency
//	req/s           requests completed a second
//	errors/op       Result.Errors for each request sent
//
// So ns/op is not a latency: several connections work at once. An op is a request, with a Scenario
// too.
//
// l.URL is as for Objective. l.Connections is 16 if it is 0, and b.N at most. l.Requests, l.For and
// l.Objectives are ignored. The benchmark fails if no request was completed, or if dyno.Run returns
// an error.
func Benchmark(b *testing.B, handler http.Handler, l dyno.Load) {
	b.Helper()
	l.Requests, l.For, l.Objectives = int64(b.N), 0, nil
	if l.Connections == 0 {
		l.Connections = 16
	}
	l.Connections = min(l.Connections, b.N)
	r := serve(b, handler, l)
	if r.Completed == 0 {
		b.Fatalf("no request was completed: %v", r)
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
	if before, _, found := strings.Cut(l.URL, "://"); found && !strings.ContainsAny(before, "/?") {
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
