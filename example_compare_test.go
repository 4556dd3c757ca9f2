package dyno_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"time"

	"dyno"
)

// A stored is what testdata/runs.json has: five runs of each of two servers, and one that was
// hindered. TestStoredRuns says how they were made.
type stored struct {
	Before, After []*dyno.Result
	Doubted       *dyno.Result
}

// storedRuns reads them. Their numbers are always the same, so that examples can show them.
func storedRuns() (runs stored) {
	text, err := os.ReadFile("testdata/runs.json")
	if err == nil {
		err = json.Unmarshal(text, &runs)
	}
	if err != nil {
		fmt.Println(err)
	}
	return runs
}

// Two servers are loaded in turns, five times each, and the order changes each time. So whatever
// changes on the machine meanwhile touches both.
func ExampleCompare() {
	before := shop()
	defer before.Close()
	after := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Millisecond) // it is slower
	}))
	defer after.Close()

	urls := []string{before.URL, after.URL}
	runs := map[string][]*dyno.Result{}
	for range 5 {
		for _, url := range urls {
			r, err := dyno.Run(context.Background(), dyno.Load{URL: url, Connections: 2, Requests: 50,
				Drain: time.Minute})
			if err != nil {
				fmt.Println(err)
				return
			}
			runs[url] = append(runs[url], r)
		}
		slices.Reverse(urls)
	}
	c, err := dyno.Compare(runs[before.URL], runs[after.URL], 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range c.Differences {
		if d.Worse {
			// after is worse than before by this measure: a test could fail here
		}
		fmt.Println(d.Measure, "compared:", d.Low <= d.Ratio && d.Ratio <= d.High)
	}
	// Output:
	// throughput compared: true
	// p50 compared: true
}

// One run of each decides nothing.
func ExampleComparison() {
	runs := storedRuns()
	c, err := dyno.Compare(runs.Before[1:2], runs.After[:1], 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range c.Differences {
		fmt.Println(d.Measure, d.Finding)
	}
	for _, caution := range c.Cautions {
		fmt.Println("caution:", caution)
	}
	// Output:
	// throughput inconclusive
	// p50 inconclusive
	// p99 inconclusive
	// caution: One run each: the same run, repeated, may differ as much
}

// What five runs of each of two servers show.
func ExampleComparison_String() {
	runs := storedRuns()
	c, err := dyno.Compare(runs.Before, runs.After, 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	// Output:
	// 127.0.0.1:39297 (B) answers 34 % fewer requests/s than 127.0.0.1:36871 (A) [22, 41]; also p50 latency +42 % [+37, +47] and p99 latency +127 % [+2, +273]
	// A: before, 5 runs, GET http://127.0.0.1:36871, closed, 4 connections
	// B: after, 5 runs, GET http://127.0.0.1:39297, closed, 4 connections
	// throughput: -33.7 % [-41.4, -22.5], different
	// p50: +42.0 % [+36.9, +47.0], different
	// p99: +126.5 % [+1.6, +273.5], different
}

// A test may fail only if something is different, and worse.
func ExampleDifference() {
	runs := storedRuns()
	c, err := dyno.Compare(runs.Before, runs.After, 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range c.Differences {
		if d.Worse {
			fmt.Printf("%s is worse: %.2f times what it was\n", d.Measure, d.Ratio)
		}
	}
	// Output:
	// throughput is worse: 0.66 times what it was
	// p50 is worse: 1.42 times what it was
	// p99 is worse: 2.27 times what it was
}
