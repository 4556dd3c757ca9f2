package main

import (
	"math"
	"strings"
	"testing"

	"dyno/bench/streams/served"
)

// A percentile is right within 1 % or the tolerance, whichever is more.
func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		dyno, truth, tolerance float64
		want                   bool
	}{{10.19, 10, 0.2, true}, {10.21, 10, 0.2, false}, {9.79, 10, 0.2, false}, {100.9, 100, 0.2, true},
		{101.1, 100, 0.2, false}, {10.9, 10, 1, true}, {math.NaN(), 10, 0.2, false},
		{10, math.NaN(), 0.2, false}} {
		if got := (row{dyno: c.dyno, truth: c.truth, tolerance: c.tolerance}).within(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// What dyno measured is held against the log's percentile; a load that is not the log's is an error.
func TestComparison(t *testing.T) {
	const ms = 1_000_000
	c := comparison{due: []int64{0, 10 * ms}, tolerance: 0.2, from: "server", truth: served.Log{
		{Number: 1, Arrived: 100 * ms, Events: []int64{105 * ms, 109 * ms}},
		{Number: 2, Arrived: 112 * ms, Events: []int64{122 * ms, 127 * ms}}}}
	c.dyno.Requests.Completed, c.dyno.Stream.Counted = 2, 4
	c.dyno.Stream.First = percentiles{P50: 5100, P99: 12_300} // true: 5, 12
	c.dyno.Stream.Service = percentiles{P50: 5100, P99: 10_100}
	c.dyno.Stream.Gap = &percentiles{P50: 4000, P99: 5000}
	c.dyno.Generator.Verdict = "ok"
	if err := c.compare(2); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	c.print(&text, "a load")
	for _, line := range strings.Split(text.String(), "\n") {
		if strings.Contains(line, "WRONG") != strings.Contains(line, "due, p99") {
			t.Error(line)
		}
	}
	if n := c.wrong(); n != 1 || !strings.Contains(text.String(), "p99 of 2 first events") {
		t.Errorf("%d wrong\n%s", n, &text)
	}
	c.dyno.Stream.Counted = 3
	if err := c.compare(2); err == nil {
		t.Error("an event that was not counted is no error")
	}
}

// Streams that came at once have no gaps, and that is not wrong.
func TestNoGaps(t *testing.T) {
	c := comparison{tolerance: 0.2}
	c.add("gap", nil, nil)
	if n := c.wrong(); n != 0 {
		t.Errorf("%d wrong", n)
	}
	c.add("gap", nil, served.Times{1})
	if n := c.wrong(); n != 2 {
		t.Errorf("%d wrong, want p50 and p99 that dyno did not have", n)
	}
}
