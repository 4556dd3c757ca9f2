package labanswer

import (
	"slices"
	"strings"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// A phrase is how a measure is spoken of.
type phrase struct {
	name string // "CPU per request"
	verb string // of the variant: "needs"
	less string // "less CPU per request"
	more string
}

var phrases = map[string]phrase{
	"throughput": {"throughput", "answers", "fewer requests/s", "more requests/s"},
	"capacity":   {"capacity", "takes", "less load", "more load"},
	"capacity_connections": {"capacity in connections", "takes", "fewer connections",
		"more connections"},
	"capacity_users": {"capacity in users", "takes", "fewer users", "more users"},
	lab.InFlight: {"requests in flight", "has", "fewer requests in flight",
		"more requests in flight"},
	"cpu": {"CPU per request", "needs", "less CPU per request", "more CPU per request"},
	"generator_cpu": {"generator's CPU per request", "costs the generator",
		"less CPU per request", "more CPU per request"},
	"host_cpu": {"machine's CPU per request", "costs the machine", "less CPU per request",
		"more CPU per request"},
	"memory":     {"memory", "needs", "less memory", "more memory"},
	"bytes":      {"bytes per request", "sends", "fewer bytes per request", "more bytes per request"},
	"iterations": {"iterations/s", "completes", "fewer iterations/s", "more iterations/s"},
	"events":     {"events/s", "sends", "fewer events/s", "more events/s"},
	"tokens":     {"tokens/s", "sends", "fewer tokens/s", "more tokens/s"},
	"cpu_event":  {"CPU per event", "needs", "less CPU per event", "more CPU per event"},
	"good": {"share of good requests", "has", "a lower share of good requests",
		"a higher share of good requests"},
	"goodput": {"goodput", "has", "lower goodput", "higher goodput"},
	"checks":  {"checks passed", "passes", "fewer checks", "more checks"},
	"cut":     {"streams cut", "has", "fewer streams cut", "more streams cut"},
	"stalled": {"streams stalled", "has", "fewer streams stalled", "more streams stalled"},
}

// phraseOf is how a measure is spoken of; that of a time is made from its name.
func phraseOf(metric string) phrase {
	if p, known := phrases[metric]; known {
		return p
	}
	name := metric + " latency"
	for prefix, of := range map[string]string{"iteration_": " time per iteration",
		"first_event_": " first event", "gap_": " gap", "token_time_": " token time"} {
		if rest, is := strings.CutPrefix(metric, prefix); is {
			name = rest + of
		}
	}
	return phrase{name, "has", "a lower " + name, "a higher " + name}
}

// MeasureName is the name of a measure in words: "CPU per request".
func MeasureName(metric string) string { return phraseOf(metric).name }

// A place is a measure at a level.
type place struct{ metric, level string }

// placesText names places, each measure once: "throughput at c100 and c10".
func placesText(all []place) string {
	var metrics, names []string
	levels := map[string][]string{}
	for _, p := range all {
		metrics = appendOnce(metrics, p.metric)
		if p.level != "" {
			levels[p.metric] = appendOnce(levels[p.metric], format.PlainLine(p.level))
		}
	}
	for _, m := range metrics {
		name := MeasureName(m)
		if at := fewNames(levels[m]); at != "" {
			name += " at " + at
		}
		names = append(names, name)
	}
	return fewNames(names)
}

// placeName is a measure at a level: "throughput at c100".
func placeName(metric, level string) string {
	if level == "" {
		return MeasureName(metric)
	}
	return MeasureName(metric) + " at " + format.PlainLine(level)
}

// valueText is a median in its unit.
func valueText(metric, unit string, v float64) string {
	switch {
	case strings.HasPrefix(unit, "µs"):
		return format.Micros(v)
	case unit == "MB":
		return format.Size(v * 1e6)
	case strings.HasPrefix(unit, "bytes"):
		return format.Size(v)
	case slices.Contains([]string{"throughput", "iterations", "capacity", "goodput"}, metric):
		return format.Digits3(v) + "/s"
	case unit == "%":
		return format.FinePercent(v / 100)
	}
	return format.Digits3(v) + " " + unit
}

// amount is how a variant differs, and by how much, in the words of a sentence: "needs less CPU per
// request than go: −64 % [−66, −61]".
func amount(f answer.Finding, metric string) string {
	p := phraseOf(metric)
	word := p.more
	if f.Ratio < 1 {
		word = p.less
	}
	return p.verb + " " + word + " than " + format.PlainLine(f.Baseline) + ": " + changeText(f)
}

// direction is in which direction a variant differs, after a measure that was named before.
func direction(f answer.Finding, metric string) string {
	p := phraseOf(metric)
	word := p.more
	if f.Ratio < 1 {
		word = p.less
	}
	word, _, _ = strings.Cut(strings.TrimPrefix(word, "a "), " ")
	return word
}

// AtLevel is where a level is: " at c100"; "" where there is only one.
func AtLevel(r *lab.Record, level string) string {
	if level = r.ShownLevel(level); level == "" {
		return ""
	}
	return " at " + format.PlainLine(level)
}

// inRecord is a fact about a record, without its level where there is only one.
func inRecord(r *lab.Record, f fact.Fact) fact.Fact {
	f.Scope.Level = r.ShownLevel(f.Scope.Level)
	return f
}
