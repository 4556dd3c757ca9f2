package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"dyno/bench/streams/served"
)

// A measured is what is read of dyno's result.
type measured struct {
	Requests struct{ Completed int }
	Stream   struct {
		Counted int
		First   percentiles  `json:"first_event"`
		Service percentiles  `json:"first_event_service"`
		Gap     *percentiles // nil: no stream had two arrivals
	}
	Generator struct {
		Verdict string
		Reasons []string
		Lag     float64 `json:"read_lag_p99_us"`
	}
}

// percentiles are those of dyno.
type percentiles struct {
	P50 float64 `json:"p50_us"`
	P99 float64 `json:"p99_us"`
}

// A comparison is of one load.
type comparison struct {
	dyno      measured
	truth     served.Log
	from      string  // whose log that is
	due       []int64 // of requests 1 and on, in ns
	tolerance float64 // in ms
	late      float64 // how late the server was, p99 in ms
	waited    float64 // share of the time in which a program waited for a CPU; NaN: unknown
	rows      []row
}

// A row is a percentile, in ms.
type row struct {
	measure     string
	percent     int
	dyno, truth float64
	tolerance   float64
}

func (r row) off() float64 { return r.dyno - r.truth }

// within says whether the difference is at most 1 %, or the tolerance.
func (r row) within() bool {
	return math.Abs(r.off()) <= max(0.01*r.truth, r.tolerance)
}

// compare computes the rows. An error says that it was another load than the log's.
func (c *comparison) compare(streams int) error {
	events := 0
	for _, s := range c.truth {
		events += len(s.Events)
	}
	// the events that end openai's streams are not counted, and the reader sees only sse
	if d := c.dyno; len(c.truth) != streams || d.Requests.Completed != streams ||
		d.Stream.Counted != events {
		return fmt.Errorf("%d streams; dyno completed %d with %d events, and the log has %d with %d",
			streams, d.Requests.Completed, d.Stream.Counted, len(c.truth), events)
	}
	fromDue, err := c.truth.Due(c.due)
	if err != nil {
		return err
	}
	c.add("first event from due", &c.dyno.Stream.First, fromDue)
	c.add("first event from sending", &c.dyno.Stream.Service, c.truth.Sent())
	c.add("gap", c.dyno.Stream.Gap, c.truth.Gaps())
	return nil
}

func (c *comparison) add(measure string, d *percentiles, truth served.Times) {
	if d == nil {
		d = &percentiles{P50: math.NaN(), P99: math.NaN()}
	}
	for _, p := range []struct {
		percent int
		us      float64
	}{{50, d.P50}, {99, d.P99}} {
		c.rows = append(c.rows, row{measure, p.percent, p.us / 1e3, truth.At(float64(p.percent)),
			c.tolerance})
	}
}

// wrong is how many percentiles are not within their tolerance. One that neither has is none.
func (c *comparison) wrong() (n int) {
	for _, r := range c.rows {
		if !r.within() && !(math.IsNaN(r.dyno) && math.IsNaN(r.truth)) {
			n++
		}
	}
	return n
}

// print writes the rows and, if one is wrong, what may be the cause.
func (c *comparison) print(w io.Writer, title string) {
	fmt.Fprintf(w, "\n%s\n  %-28s %10s %10s %22s\n", title, "ms", "dyno", c.from, "difference")
	for _, r := range c.rows {
		name := fmt.Sprintf("%s, p%d", r.measure, r.percent)
		switch {
		case math.IsNaN(r.dyno) && math.IsNaN(r.truth):
			fmt.Fprintf(w, "  %-28s none: each stream came at once\n", name)
		default:
			said := ""
			if !r.within() {
				said = fmt.Sprintf("  WRONG: more than 1 %% and %v ms", r.tolerance)
			}
			fmt.Fprintf(w, "  %-28s %10.3f %10.3f %+10.3f %+8.2f %%%s\n", name, r.dyno, r.truth, r.off(),
				100*r.off()/r.truth, said)
		}
	}
	fmt.Fprintf(w, "  p99: the server was late by %.2f ms, events lay unread in dyno for %.3f ms",
		c.late, c.dyno.Generator.Lag/1e3)
	if !math.IsNaN(c.waited) {
		fmt.Fprintf(w, "; programs waited for a CPU in %.1f %% of the time", 100*c.waited)
	}
	fmt.Fprintln(w)
	if c.wrong() > 0 {
		fmt.Fprintf(w, "  possible causes: %s\n", strings.Join(c.causes(), "; "))
	}
}

// Limits above which something may be a cause.
const (
	lateMost   = 2.0  // ms: Go's timers alone are late by about one
	waitedMost = 0.05 // dyno and the server have a CPU each
)

// causes are what may have made a percentile wrong, other than dyno.
func (c *comparison) causes() (all []string) {
	if g := c.dyno.Generator; g.Verdict != "ok" {
		all = append(all, fmt.Sprintf("dyno calls itself %s (%s)", g.Verdict,
			strings.Join(g.Reasons, "; ")))
	}
	if c.waited > waitedMost {
		all = append(all, "other programs had the CPUs: measure on a machine that does nothing else")
	}
	if c.late > lateMost {
		all = append(all, "the server ran late, and so its log may be early by as much: an event "+
			"is logged before it is written")
	}
	n := len(c.truth)
	if few := slices.ContainsFunc(c.rows, func(r row) bool {
		return !r.within() && r.percent == 99 && r.measure != "gap"
	}); few && n < 500 {
		all = append(all, fmt.Sprintf("p99 of %d first events is one of the %d longest: a single "+
			"delay decides it", n, n/100+1))
	}
	if len(all) == 0 {
		all = append(all, "none is known: dyno may be wrong")
	}
	return all
}
