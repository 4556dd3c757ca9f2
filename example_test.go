package dyno_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"dyno"
)

// A shop is a server to load: /login answers with a token, in a header and in JSON, which /basket
// wants.
func shop() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/login":
			token := "token-of-" + r.URL.Query().Get("user")
			w.Header().Set("Token", token)
			fmt.Fprintf(w, `{"token": %q}`, token)
			return
		case r.URL.Path == "/basket" && !strings.HasPrefix(r.Header.Get("Token"), "token-of-"):
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/slow":
			time.Sleep(time.Millisecond)
		}
		io.WriteString(w, "hello")
	}))
}

// An open workload of 200 requests, and whether its objective was met. Drain is long because these
// examples run as tests, on busy machines too.
func ExampleRun() {
	server := shop()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Rate: 1000, Requests: 200,
		Drain: time.Minute, Objectives: []string{"errors<0.1%"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Sent, "sent,", r.Completed, "completed,", r.Status[200], "of status 200")
	fmt.Println("objectives met:", r.Met())
	// Output:
	// 200 sent, 200 completed, 200 of status 200
	// objectives met: true
}

// A closed workload that posts JSON on four connections, and stops after 100 requests.
func ExampleLoad() {
	server := shop()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{
		URL:         server.URL + "/items",
		Header:      http.Header{"Content-Type": {"application/json"}},
		Body:        []byte(`{"name": "pencil"}`),
		Connections: 4,
		Requests:    100,
		Drain:       time.Minute,
	})
	fmt.Println(r.Completed, err)
	// Output: 100 <nil>
}

// The requests of the first tenth of a second are not counted.
func ExampleLoad_warmup() {
	var served atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		served.Add(1)
	}))
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Rate: 500, Connections: 4,
		Warmup: 100 * time.Millisecond, Requests: 20, Drain: time.Minute})
	fmt.Println(r.Sent, "counted, and more were sent before:", served.Load() > r.Sent, err)
	// Output: 20 counted, and more were sent before: true <nil>
}

// A closed workload for a tenth of a second.
func ExampleLoad_duration() {
	server := shop()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 4,
		For: 100 * time.Millisecond})
	fmt.Println(r.Measured, r.Ended, err)
	// Output: 100ms duration <nil>
}

// HTTP/2 over TLS, with a certificate that only this load trusts.
func ExampleLoad_http2() {
	server := httptest.NewUnstartedServer(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 {
				w.WriteHeader(http.StatusHTTPVersionNotSupported)
			}
		}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, HTTP: "2",
		RootCAs:     pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		Connections: 2, Requests: 20, Drain: time.Minute})
	fmt.Println(r.Completed, r.Errors, err)
	// Output: 20 0 <nil>
}

// Requests at random instants, 1,000 a second on average. With the same Seed the instants are the
// same.
func ExampleLoad_poisson() {
	server := shop()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Rate: 1000, Poisson: true,
		Seed: 7, Requests: 100, Drain: time.Minute})
	fmt.Println(r.Completed, "completed of", r.Offered, "a second, with seed", r.Seed, err)
	// Output: 100 completed of 1000 a second, with seed 7 <nil>
}

// How fast the server refuses: status 403 is what this load expects.
func ExampleLoad_expect() {
	server := shop()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL + "/basket", Expect: "403",
		Connections: 2, Requests: 50, Drain: time.Minute})
	fmt.Println(r.Completed, r.Errors, r.Status, err)
	// Output: 50 0 map[403:50] <nil>
}

// A program that does nothing but load may give its process to the load.
func ExampleLoad_ownProcess() {
	server := shop()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Threads: 1, OwnProcess: true,
		Connections: 2, Requests: 50, Drain: time.Minute})
	fmt.Println(r.Completed, err)
	// Output: 50 <nil>
}

// Run names every field that is wrong before it sends anything.
func ExampleFieldError() {
	_, err := dyno.Run(context.Background(), dyno.Load{URL: "http://localhost/", Connections: -1,
		Timeout: time.Microsecond, Objectives: []string{"p99<20"}})
	fmt.Println(err)
	var one dyno.FieldError
	fmt.Println(errors.As(err, &one), one.Field)
	// Output:
	// Objectives: "p99<20", column 5: a duration with its unit is wanted, as 20ms, not "20"
	// Connections: -1 is not within 1 to 1048576
	// Timeout: 1µs is not within 1ms to 8784h0m0s
	// true Objectives
}

// Error is the field and what is possible.
func ExampleFieldError_Error() {
	fmt.Println(dyno.FieldError{Field: "Rate", Problem: "is no number of requests a second"}.Error())
	// Output: Rate: is no number of requests a second
}

// load is 50 requests to a server, on two connections.
func load(path string) *dyno.Result {
	server := shop()
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL + path, Connections: 2,
		Requests: 50, Drain: time.Minute, Objectives: []string{"errors<1%"}})
	if err != nil {
		fmt.Println(err)
	}
	return r
}

// All requests of a load are accounted for.
func ExampleResult() {
	r := load("/")
	fmt.Println(r.Sent == r.Completed+r.Errors+r.Unfinished, r.Status, r.Ended)
	// Output: true map[200:50] requests
}

// A Result says in one sentence how it went. This one was stored.
func ExampleResult_String() {
	fmt.Println(storedRuns().Before[1])
	// Output:
	// 1,494 requests/s on 4 connections, p99 6.16 ms
}

// Met is the verdict of all objectives together.
func ExampleResult_Met() {
	fmt.Println(load("/").Met(), load("/basket").Met())
	// Output: true false
}

// Results are stored as the command stores them.
func ExampleResult_MarshalJSON() {
	text, err := json.Marshal(load("/"))
	fmt.Println(strings.HasPrefix(string(text), `{"format":"dyno.result/1"`), err)
	// Output: true <nil>
}

// A stored result is read again, whether Go or the command wrote it.
func ExampleResult_UnmarshalJSON() {
	text, err := json.Marshal(load("/"))
	var again dyno.Result
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	fmt.Println(again.Completed, err)
	// Output: 50 <nil>
}

// A server that takes a millisecond is not faster than that.
func ExampleDistribution() {
	l := load("/slow").Latency
	fmt.Println(l.Count, l.Min >= time.Millisecond, l.P50 <= l.P99, l.P99 <= l.Max)
	// Output: 50 true true true
}

// Any percentile, such as the 95th.
func ExampleDistribution_Percentile() {
	l := load("/slow").Latency
	fmt.Println(l.Percentile(95) == l.P95, l.Percentile(100) >= l.Max-time.Microsecond)
	// Output: true true
}

// Two stored runs: one can be trusted, and the other says why it cannot.
func ExampleVerdict() {
	runs := storedRuns()
	for _, r := range []*dyno.Result{runs.Before[1], runs.Doubted} {
		switch r.Generator {
		case dyno.OK:
			fmt.Println("the numbers are those of the server")
		case dyno.Suspect, dyno.ClientBound:
			fmt.Println(r.Generator, "because:", strings.Join(r.Reasons, "; "))
		}
	}
	// Output:
	// the numbers are those of the server
	// client-bound because: a thread was busy 100 % of the time, 72 % with the scenario itself: this is the scenario's limit, not (only) the server's; a thread of the generator waited for a CPU 34 % of the time, while other programs ran there
}

// What was asked of the load, and what came of it.
func ExampleOutcome() {
	for _, o := range load("/").Objectives {
		fmt.Println(o.Objective, o.Met, *o.Value, o.Unit)
	}
	// Output: errors<1% true 0 percent
}

// Fifty answers with status 403 are one way to fail.
func ExampleFailure() {
	for _, f := range load("/basket").Failures {
		fmt.Println(f.Phase, f.Kind, f.Count)
	}
	// Output: expect status 50
}

// A load that can be watched while it runs.
func ExampleInterval() {
	server := shop()
	defer server.Close()
	var completed int64
	_, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 2, Requests: 50,
		Drain: time.Minute, Each: func(iv dyno.Interval) { completed += iv.Completed }})
	fmt.Println(completed, err)
	// Output: 50 <nil>
}
