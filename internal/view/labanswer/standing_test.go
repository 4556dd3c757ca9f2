package labanswer

import (
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
)

// A variant has one verdict by all measures: by the first that decides, in the order of the file.
func TestStandings(t *testing.T) {
	worse := func(metric string) lab.Comparison { return compared(metric, "b", 1.4, 1.3, 1.5, stats.Different) }
	same := func(metric string) lab.Comparison { return compared(metric, "b", 1, 0.99, 1.01, stats.Equivalent) }
	open := func(metric string, more int) lab.Comparison {
		c := compared(metric, "b", 1.1, 0.9, 1.3, stats.Inconclusive)
		c.More = more
		return c
	}
	bound := worse("throughput")
	bound.ClientBound = true
	for name, c := range map[string]struct {
		all   []lab.Comparison
		want  answer.Verdict
		says  string
		more  int
		of    string
		leads string
		rest  string
	}{
		"worse": {all: []lab.Comparison{worse("cpu"), open("p99", 3)}, want: answer.Worse, says: "CPU per request +40 % [+30, +50]", rest: "undecided: p99 latency"},
		"worst for users": {all: []lab.Comparison{compared("cpu", "b", 0.8, 0.7, 0.9, stats.Different), compared("p50", "b", 1.1, 1.05, 1.15, stats.Different),
			compared("p99", "b", 22, 9, 40, stats.Different)}, want: answer.Worse, says: "p99 latency ×22 [×9, ×40], p50 latency +10 % [+5, +15]; but better: CPU per request −20 % [−30, −10]", leads: "CPU per request −20 %"},
		"better, but worse":   {all: []lab.Comparison{worse("throughput"), worse("cpu")}, want: answer.Better, says: "throughput +40 % [+30, +50]; but worse: CPU per request +40 %"},
		"a later one decides": {all: []lab.Comparison{open("cpu", 3), worse("p99")}, want: answer.Worse, says: "p99 latency +40 %", leads: "CPU per request +10 %", rest: "undecided: CPU per request"},
		"the same":            {all: []lab.Comparison{same("throughput"), same("cpu"), open("p99", 5)}, want: answer.Same, says: "throughput and CPU per request within 2 %", rest: "undecided: p99 latency"},
		"the first is open":   {all: []lab.Comparison{open("throughput", 12), same("cpu")}, want: answer.Undecided, says: "throughput +10 % [−10, +30]", more: 12, of: "throughput"},
		"out of reach":        {all: []lab.Comparison{open("throughput", 900), open("cpu", 15)}, want: answer.Undecided, says: "throughput +10 %", more: 15, of: "CPU per request"},
		"and the tail": {all: []lab.Comparison{open("cpu", stats.MoreMax), open("p99", 5)}, want: answer.Undecided, says: "CPU per request +10 %",
			more: 5, of: "p99 latency", rest: "p99 latency +10 % [−10, +30]"},
		"and a tail out of reach": {all: []lab.Comparison{open("cpu", 3), open("p99", stats.MoreMax)}, want: answer.Undecided, says: "CPU per request +10 %",
			more: 3, of: "CPU per request", rest: "p99 latency +10 % [−10, +30]: the interval is too wide"},
		"never":              {all: []lab.Comparison{open("throughput", stats.MoreMax)}, want: answer.Undecided, says: "the interval is too wide"},
		"the generator":      {all: []lab.Comparison{bound}, want: answer.NotValid, says: "the generator was the limit"},
		"not by the limited": {all: []lab.Comparison{bound, same("cpu")}, want: answer.Same, says: "CPU per request within 2 %", leads: "CPU per request", rest: "not valid: throughput"},
	} {
		r := record(c.all...)
		all := Standings(r, Of(r))
		if len(all) != 1 || all[0].Variant != "b" {
			t.Fatalf("%s: %+v", name, all)
		}
		s := all[0]
		if s.Verdict != c.want || !strings.Contains(s.Says, c.says) || s.More != c.more || s.MoreOf != c.of ||
			!strings.Contains(s.Leads, c.leads) || s.Rest != c.rest {
			t.Errorf("%s: %+v", name, s)
		}
		if s.IsDecided() != (c.want != answer.Undecided && c.want != answer.NotValid) {
			t.Errorf("%s: decided: %v", name, s.IsDecided())
		}
	}
	if all := []Standing{{Verdict: answer.Worse}, {Verdict: answer.Same}}; !AreDecided(all) || AreDecided(append(all, Standing{Verdict: answer.Undecided})) {
		t.Error("what is decided is not")
	}
	r := record(worse("cpu"))
	r.Arms = append(r.Arms, lab.Arm{Name: "c", Unfit: "it died"})
	if all := Standings(r, Of(r)); len(all) != 2 || all[1].Verdict != answer.Refused || all[1].IsDecided() {
		t.Errorf("%+v", all)
	}
}
