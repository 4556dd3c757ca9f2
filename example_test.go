package dyno_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"dyno"
)

// helloWorld answers every request.
var helloWorld = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, "hello, world")
})

// An open workload: 200 requests, due at a rate of 1,000 a second.
func ExampleRun() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Rate: 1000, Requests: 200,
		Objectives: []string{"errors<0.1%"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Sent, "sent,", r.Completed, "completed,", r.Status[200], "of status 200")
	fmt.Println("objectives met:", r.Met())
	// Output:
	// 200 sent, 200 completed, 200 of status 200
	// objectives met: true
}

// A server that is down is no error of Run: the Result says so.
func ExampleRun_unreachable() {
	server := httptest.NewServer(helloWorld)
	server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 1,
		Objectives: []string{"errors<0.1%"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Ended, r.Failures[0].Phase, r.Met())
	// Output: unreachable connect false
}

// A closed workload: four connections post JSON, 100 times in all.
func ExampleLoad() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{
		URL:         server.URL + "/items",
		Header:      http.Header{"Content-Type": {"application/json"}},
		Body:        []byte(`{"name": "pencil"}`),
		Connections: 4,
		Requests:    100,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed)
	// Output: 100
}

// The requests of the first tenth of a second are sent, but not counted.
func ExampleLoad_warmup() {
	var received atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		received.Add(1)
	}))
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Rate: 500, Connections: 4,
		Warmup: 100 * time.Millisecond, Requests: 20})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Sent, "counted, and more were sent before:", received.Load() > r.Sent)
	// Output: 20 counted, and more were sent before: true
}

// A closed workload for a tenth of a second.
func ExampleLoad_duration() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 4,
		For: 100 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Measured, r.Ended)
	// Output: 100ms duration
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
		Connections: 2, Requests: 20})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed, r.Errors)
	// Output: 20 0
}

// Requests are due at random times, 1,000 a second on average. With the same Seed they are due at
// the same times.
func ExampleLoad_poisson() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Rate: 1000, Poisson: true,
		Seed: 7, Requests: 100})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed, "completed of", r.Offered, "a second, with seed", r.Seed)
	// Output: 100 completed of 1000 a second, with seed 7
}

// How fast does a server refuse? This load expects status 404.
func ExampleLoad_expect() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Expect: "404",
		Connections: 2, Requests: 50})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed, r.Errors, r.Status)
	// Output: 50 0 map[404:50]
}

// A program that does nothing but load may give its process to the load.
func ExampleLoad_ownProcess() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Threads: 1, OwnProcess: true,
		Connections: 2, Requests: 50})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Completed)
	// Output: 50
}

// Run names every field that is wrong before it sends anything.
func ExampleFieldError() {
	_, err := dyno.Run(context.Background(), dyno.Load{URL: "http://localhost/", Connections: -1,
		Timeout: time.Microsecond, Objectives: []string{"p99<20"}})
	fmt.Println(err)
	var first dyno.FieldError
	fmt.Println(errors.As(err, &first), first.Field)
	// Output:
	// Objectives: "p99<20", column 5: write a duration with its unit, such as 20ms, not "20"
	// Connections: -1 is not within 1 to 1048576
	// Timeout: 1µs is not within 1ms to 8784h0m0s
	// true Objectives
}

// Error returns the field and what is wrong with it.
func ExampleFieldError_Error() {
	err := dyno.FieldError{Field: "Connections", Problem: "-1 is not within 1 to 1048576"}
	fmt.Println(err.Error())
	// Output: Connections: -1 is not within 1 to 1048576
}

// Every request that was sent was completed, was an error, or had no response.
func ExampleResult() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 2, Requests: 50})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Sent == r.Completed+r.Errors+r.Unfinished, r.Status, r.Ended)
	// Output: true map[200:50] requests
}

// A Result from a file says in one sentence how its run went.
func ExampleResult_String() {
	before, _ := storedRuns() // []*dyno.Result
	fmt.Println(before[1])
	// Output:
	// 1,494 requests/s on 4 connections, p99 6.16 ms
}

// Every response has status 404, so the objective of errors is missed.
func ExampleResult_Met() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 2, Requests: 50,
		Objectives: []string{"errors<1%", "p99<1h"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Met())
	// Output: false
}

// A Result becomes JSON that the command reads, too.
func ExampleResult_MarshalJSON() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 2, Requests: 50})
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(string(text), `{"format":"dyno.result/1"`))
	// Output: true
}

// What json.Marshal or the command's --json wrote is a Result again.
func ExampleResult_UnmarshalJSON() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 2, Requests: 50})
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		log.Fatal(err)
	}
	var again dyno.Result
	if err := json.Unmarshal(text, &again); err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Completed)
	// Output: 50
}

// The latencies of a run from a file.
func ExampleDistribution() {
	before, _ := storedRuns() // []*dyno.Result
	l := before[1].Latency
	fmt.Println(l.Count, l.P50.Round(10*time.Microsecond), l.P99.Round(10*time.Microsecond))
	// Output: 2400 2.51ms 6.16ms
}

// Any percentile, such as the 99.5th.
func ExampleDistribution_Percentile() {
	before, _ := storedRuns() // []*dyno.Result
	fmt.Println(before[1].Latency.Percentile(99.5).Round(10 * time.Microsecond))
	// Output: 6.48ms
}

// Two runs from files: dyno trusts the numbers of the first, and not those of the second.
func ExampleVerdict() {
	before, _ := storedRuns() // []*dyno.Result
	for _, r := range []*dyno.Result{before[1], doubtedRun()} {
		switch r.Generator {
		case dyno.OK:
			fmt.Println("no doubt")
		case dyno.Suspect, dyno.ClientBound:
			fmt.Println(r.Generator, "because:", strings.Join(r.Reasons, "; "))
		}
	}
	// Output:
	// no doubt
	// client-bound because: a thread was busy 100 % of the time, 72 % with the scenario itself: this is the scenario's limit, and the server may do more; a thread of the generator waited for a CPU 34 % of the time, while other programs ran there
}

// Each condition has its Outcome. Value is nil if nothing was measured.
func ExampleOutcome() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 2, Requests: 50,
		Objectives: []string{"errors<1%, p90<1h"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range r.Objectives {
		fmt.Println(o.Objective, o.Met, o.Value != nil, o.Unit)
	}
	// Output:
	// errors<1% true true percent
	// p90<1h true true us
}

// Fifty responses with status 404 are one Failure.
func ExampleFailure() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 2, Requests: 50})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range r.Failures {
		fmt.Println(f.Phase, f.Kind, f.Detail, f.Count)
	}
	// Output: expect status 404 50
}

// Each is called while the load runs, and a last time at its end.
func ExampleInterval() {
	server := httptest.NewServer(helloWorld)
	defer server.Close()
	var completed int64
	_, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 2, Requests: 50,
		Each: func(iv dyno.Interval) { completed += iv.Completed }})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(completed)
	// Output: 50
}
