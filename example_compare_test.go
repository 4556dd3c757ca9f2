package dyno_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"slices"

	"dyno"
)

// A stored is what testdata/runs.json has: five runs of each of two servers, and one that was
// hindered. TestStoredRuns says how they were made.
type stored struct {
	Before, After []*dyno.Result
	Doubted       *dyno.Result
}

// storedRuns reads five runs of each of two servers from a file. Their numbers are always the same,
// so that examples can show them.
func storedRuns() (before, after []*dyno.Result) {
	runs := readStored()
	return runs.Before, runs.After
}

// doubtedRun reads a run whose numbers dyno does not trust.
func doubtedRun() *dyno.Result { return readStored().Doubted }

func readStored() (runs stored) {
	text, err := os.ReadFile("testdata/runs.json")
	if err == nil {
		err = json.Unmarshal(text, &runs)
	}
	if err != nil {
		log.Fatal(err)
	}
	return runs
}

// The second server is slower, and five runs of each show it.
func ExampleCompare() {
	before, after := storedRuns() // []*dyno.Result, five of each
	c, err := dyno.Compare(before, after, 0.05)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range c.Differences {
		fmt.Println(d.Measure, d.Finding)
	}
	// Output:
	// throughput different
	// p50 different
	// p99 different
}

// Two servers are loaded in turns, five times each, and the order changes each time. So a change on
// the machine touches both.
func ExampleCompare_inTurns() {
	before := httptest.NewServer(helloWorld)
	defer before.Close()
	after := httptest.NewServer(helloWorld)
	defer after.Close()

	urls := []string{before.URL, after.URL}
	runs := map[string][]*dyno.Result{}
	for range 5 {
		for _, url := range urls {
			r, err := dyno.Run(context.Background(), dyno.Load{URL: url, Connections: 2, Requests: 50})
			if err != nil {
				log.Fatal(err)
			}
			runs[url] = append(runs[url], r)
		}
		slices.Reverse(urls)
	}
	c, err := dyno.Compare(runs[before.URL], runs[after.URL], 0.05)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range c.Differences {
		fmt.Println("compared by", d.Measure)
	}
	// Output:
	// compared by throughput
	// compared by p50
}

// One run of each decides nothing.
func ExampleComparison() {
	before, after := storedRuns() // []*dyno.Result
	c, err := dyno.Compare(before[1:2], after[:1], 0.05)
	if err != nil {
		log.Fatal(err)
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
	before, after := storedRuns() // []*dyno.Result
	c, err := dyno.Compare(before, after, 0.05)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output:
	// 127.0.0.1:39297 (B) answers fewer requests/s than 127.0.0.1:36871 (A): −34 % [−41, −22]; also p50 latency +42 % [+37, +47] and p99 latency +127 % [+2, +273]
	// A: before, 5 runs, GET http://127.0.0.1:36871, closed, 4 connections
	// B: after, 5 runs, GET http://127.0.0.1:39297, closed, 4 connections
	// throughput: -33.7 % [-41.4, -22.5], different
	// p50: +42.0 % [+36.9, +47.0], different
	// p99: +126.5 % [+1.6, +273.5], different
}

// Fail a test on Worse only. It is false if the runs show no difference, or one within the margin.
func ExampleDifference() {
	before, after := storedRuns() // []*dyno.Result
	c, err := dyno.Compare(before, after, 0.05)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range c.Differences {
		if d.Worse {
			fmt.Printf("%s is worse: %.2f times what it was, [%.2f, %.2f]\n", d.Measure, d.Ratio,
				d.Low, d.High)
		}
	}
	// Output:
	// throughput is worse: 0.66 times what it was, [0.59, 0.78]
	// p50 is worse: 1.42 times what it was, [1.37, 1.47]
	// p99 is worse: 2.27 times what it was, [1.02, 3.73]
}
