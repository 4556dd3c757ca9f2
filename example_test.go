package dyno_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"dyno"
)

// A shop is a server to load: /login answers with a header Token, which /basket wants.
func shop() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/login":
			w.Header().Set("Token", "token-of-"+r.URL.Query().Get("user"))
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

// A user logs in, and asks for the basket with the token of the answer.
func ExampleScenario() {
	server := shop()
	defer server.Close()
	visit := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		switch {
		case last == nil:
			return &dyno.Request{Step: "login", Path: fmt.Sprintf("/login?user=%d", u.Number)}, nil
		case u.State == nil: // the answer to login
			u.State = last.Header("Token")
			return &dyno.Request{Step: "basket", Path: "/basket",
				Header: http.Header{"Token": {u.State.(string)}}}, nil
		}
		u.State = nil
		if last.Status != http.StatusOK {
			return nil, fmt.Errorf("basket: status %d", last.Status)
		}
		return nil, nil
	}
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: visit,
		Steps: []string{"login", "basket"}, Users: 4, Connections: 4, Requests: 20, Drain: time.Minute})
	fmt.Println(r.Completed, "requests in 20 iterations,", err)
	// Output: 40 requests in 20 iterations, <nil>
}

// Each user asks for the items of its own number, at random.
func ExampleUser() {
	server := shop()
	defer server.Close()
	browse := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		if last != nil {
			return nil, nil
		}
		return &dyno.Request{Path: fmt.Sprintf("/items/%d/%d", u.Number, u.Rand.IntN(100))}, nil
	}
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: browse, Seed: 1,
		Connections: 2, Requests: 10, Drain: time.Minute})
	fmt.Println(r.Completed, err)
	// Output: 10 <nil>
}

// A request of a scenario that is sent a millisecond after the iteration began.
func ExampleRequest() {
	server := shop()
	defer server.Close()
	order := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		if last != nil {
			return nil, nil
		}
		return &dyno.Request{Method: "PUT", Path: "/items/7", Body: []byte("pencil"),
			Header: http.Header{"Content-Type": {"text/plain"}}, Wait: time.Millisecond}, nil
	}
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: order,
		Connections: 1, Requests: 5, Drain: time.Minute})
	fmt.Println(r.Completed, err)
	// Output: 5 <nil>
}

// A scenario that fails an iteration whose answer is not what it wants.
func ExampleResponse() {
	server := shop()
	defer server.Close()
	check := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		switch {
		case last == nil:
			return &dyno.Request{}, nil
		case last.Status != 200 || string(last.Body) != "hello" || last.Took <= 0:
			return nil, errors.New("not what was wanted")
		}
		return nil, nil
	}
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: check,
		Connections: 1, Requests: 5, Drain: time.Minute})
	fmt.Println(r.Completed, err)
	// Output: 5 <nil>
}

// The header fields of an answer are found in upper and in lower case.
func ExampleResponse_Header() {
	server := shop()
	defer server.Close()
	seen := ""
	login := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
		if last == nil {
			return &dyno.Request{Path: "/login?user=ada"}, nil
		}
		seen = last.Header("TOKEN")
		return nil, nil
	}
	dyno.Run(context.Background(), dyno.Load{URL: server.URL, Scenario: login, Connections: 1,
		Requests: 1, Drain: time.Minute})
	fmt.Println(seen)
	// Output: token-of-ada
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

// The answer to a user who asks how it went: "3,412 requests/s, p50 1.1 ms, p99 2.4 ms", say.
func ExampleResult_String() {
	text := load("/").String()
	fmt.Println(strings.Contains(text, "requests"))
	// Output: true
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

// A measurement that cannot be trusted says why.
func ExampleVerdict() {
	r := load("/")
	switch r.Generator {
	case dyno.OK:
		fmt.Println("trusted or not, there is a reason: true")
	case dyno.Suspect, dyno.ClientBound:
		fmt.Println("trusted or not, there is a reason:", len(r.Reasons) > 0)
	}
	// Output: trusted or not, there is a reason: true
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

// runs are several runs of a load: one shows nothing of how much runs differ.
func runs(path string) (all []*dyno.Result) {
	for range 4 {
		all = append(all, load(path))
	}
	return all
}

// Two versions of a server, each measured several times.
func ExampleCompare() {
	c, err := dyno.Compare(runs("/"), runs("/"), 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range c.Differences {
		if d.Measure == "throughput" {
			fmt.Println(d.Measure, d.Low <= d.Ratio && d.Ratio <= d.High)
		}
	}
	// Output: throughput true
}

// One run of each decides nothing.
func ExampleComparison() {
	c, err := dyno.Compare([]*dyno.Result{load("/")}, []*dyno.Result{load("/")}, 0.05)
	fmt.Println(c.Differences[0].Verdict, len(c.Cautions) > 0, err)
	// Output: inconclusive true <nil>
}

// What was found begins with a sentence.
func ExampleComparison_String() {
	c, err := dyno.Compare(runs("/"), runs("/"), 0.05)
	fmt.Println(len(strings.Split(c.String(), "\n")) == 1+len(c.Differences), err)
	// Output: true <nil>
}

// A test may fail only if something is different, and worse.
func ExampleDifference() {
	worse := dyno.Difference{Measure: "p99", Ratio: 1.3, Low: 1.2, High: 1.4, Verdict: "different",
		Worse: true}
	fmt.Println(worse.Worse, worse.Low > 1.05)
	// Output: true true
}
