package repeat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"dyno/internal/capacity"
	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
)

// Search is the command that repeats a search, with probes that take so long; 0: as dyno find has
// them.
func Search(s *capacity.Search, probe loadplan.Seconds) (line, lost string) {
	words := []string{"dyno", "find"}
	if a := s.Of(); a != capacity.Rates {
		words = append(words, "--axis", string(a))
	}
	words = append(words, objectives(s)...)
	p := s.Plan
	if p.Connections == 0 { // their number was searched, or each user had one
		p.Connections = loadplan.DefaultPlan().Connections
	}
	if p.Duration = 0; probe > 0 { // of older searches it was not kept
		words = append(words, "--probe-time", probe.String())
	}
	return Command(p, words...)
}

// Hold is the command of a run that holds for a minute what a search found.
func Hold(s *capacity.Search) (line, lost string) {
	p := s.Plan
	certified, _, _ := s.Bracket()
	p.Duration = loadplan.Seconds(time.Minute)
	switch s.Of() {
	case capacity.Rates:
		p.Rate = loadplan.RatePerSecond(max(math.Floor(certified), min(certified, 1)))
	case capacity.Connections:
		p.Connections = int(certified)
	case capacity.Users:
		p.Users, p.Connections = int(certified), cmp.Or(p.Connections, int(certified))
	}
	return Command(p, append([]string{"dyno", "run"}, objectives(s)...)...)
}

// objectives are those of a search as flags.
func objectives(s *capacity.Search) (words []string) {
	for _, expr := range s.Objectives {
		words = append(words, slo(expr)...)
	}
	return words
}

// Sweep is the command that repeats a sweep.
func Sweep(c *capacity.Curve) (line, lost string) {
	levels := JoinComma(c.Levels,
		func(v float64) string { return loadplan.RatePerSecond(v).String() })
	p, d := c.Plan, loadplan.DefaultPlan()
	words := []string{"dyno", "find", "--rates", levels}
	if c.Axis == capacity.Connections {
		words[2], words[3], p.Connections = "--levels", "c="+levels, d.Connections
	}
	words = append(words, "--rounds", fmt.Sprint(c.Rounds), "--probe-time", p.Duration.String())
	p.Rate, p.Duration, p.Threads = 0, 0, 0 // each point had its own
	return Command(p, words...)
}

// Find is the command that searches for the rate that meets objectives, with a result's load;
// without any for one at which p99 stays below ten times the p50 of this run.
func Find(r *result.Result, all []result.Outcome) (line, lost string) {
	words := []string{"dyno", "find"}
	for _, o := range all {
		words = append(words, slo(o.Expr)...)
	}
	switch {
	case len(words) > 2:
	case r.Stream != nil && r.Stream.First != nil:
		words = append(words, slo("first_event.p99<"+roundTime(10*r.Stream.First.P50))...)
	case r.Latency != nil:
		words = append(words, slo("p99<"+roundTime(10*r.Latency.P50))...)
	}
	watching, left := Watching(r)
	p := r.Plan
	p.Rate, p.Requested, p.Duration, p.Warmup, p.Stages = 0, 0, 0, 0, nil
	line, lost = Command(p, slices.Concat(words, Fleet(r), watching)...)
	return line, joined(append(left, lost))
}

// roundTime is a time of so many µs, to one digit and no less than 1 ms, as an objective has it.
func roundTime(us float64) string {
	ms := max(us/1e3, 1)
	scale := math.Pow(10, math.Floor(math.Log10(ms)))
	return strconv.FormatFloat(math.Ceil(ms/scale)*scale, 'f', -1, 64) + "ms"
}
