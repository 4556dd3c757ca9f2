package labanswer

import (
	"slices"
	"strings"

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
	than string // what a multiple is of: "the CPU per request of"

	counts bool // it is a number of something
}

var phrases = map[string]phrase{
	"throughput": {"throughput", "answers", "fewer requests/s", "more requests/s",
		"as many requests/s as", true},
	"capacity": {"capacity", "takes", "less load", "more load", "the load of", false},
	"capacity_connections": {"capacity in connections", "takes", "fewer connections",
		"more connections", "as many connections as", true},
	"capacity_users": {"capacity in users", "takes", "fewer users", "more users", "as many users as",
		true},
	lab.InFlight: {"requests in flight", "has", "fewer requests in flight",
		"more requests in flight", "as many requests in flight as", true},
	"cpu": {"CPU per request", "needs", "less CPU per request", "more CPU per request",
		"the CPU per request of", false},
	"generator_cpu": {"generator's CPU per request", "costs the generator",
		"less CPU per request", "more CPU per request", "the CPU per request of", false},
	"host_cpu": {"machine's CPU per request", "costs the machine", "less CPU per request",
		"more CPU per request", "the CPU per request of", false},
	"memory": {"memory", "needs", "less memory", "more memory", "the memory of", false},
	"bytes": {"bytes per request", "sends", "fewer bytes per request", "more bytes per request",
		"the bytes per request of", true},
	"iterations": {"iterations/s", "completes", "fewer iterations/s", "more iterations/s",
		"as many iterations/s as", true},
	"events": {"events/s", "sends", "fewer events/s", "more events/s", "as many events/s as", true},
	"tokens": {"tokens/s", "sends", "fewer tokens/s", "more tokens/s", "as many tokens/s as", true},
	"cpu_event": {"CPU per event", "needs", "less CPU per event", "more CPU per event",
		"the CPU per event of", false},
	"good": {"share of good requests", "has", "lower share of good requests",
		"higher share of good requests", "the share of good requests of", false},
	"goodput": {"goodput", "has", "lower goodput", "higher goodput", "the goodput of", false},
	"cut": {"streams cut", "has", "fewer streams cut", "more streams cut", "as many streams cut as",
		true},
	"stalled": {"streams stalled", "has", "fewer streams stalled", "more streams stalled",
		"as many streams stalled as", true},
	"checks": {"checks passed", "passes", "fewer checks", "more checks", "as many checks as", true},
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
	return phrase{name, "has", "lower " + name, "higher " + name, "the " + name + " of", false}
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

// amount is by how much a variant differs, in the words of a sentence: "needs 64 % less CPU per
// request than go [61, 66]". Of a ratio of 2 or more it is a multiple.
func amount(f answer.Finding, c lab.Comparison, whole bool) string {
	p := phraseOf(c.Metric)
	verb := ""
	if whole {
		verb = p.verb + " "
	}
	if c.Ratio >= 2 {
		s := verb + c.Bound.Text(format.RatioText(c.Ratio, c.Low, c.High)) + " times"
		if whole {
			s += " " + p.than + " " + format.PlainLine(f.Baseline)
		} else {
			s += " " + asMuch(p)
		}
		low, high := format.RatioEnds(c.Low, c.High)
		return s + " " + c.Bound.Interval(low, high, "0")
	}
	word := p.more
	if c.Ratio < 1 {
		word = p.less
	}
	if !whole {
		word, _, _ = strings.Cut(word, " ")
	}
	s := verb
	if c.Bound != "" { // what is decided differs by more, in either direction
		s += string(lab.AtLeast) + " "
	}
	s += format.AbsoluteChange(c.Ratio, c.Low, c.High) + " " + word
	if whole {
		s += " than " + format.PlainLine(f.Baseline)
	}
	return s + " " + absoluteEnds(c)
}

// absoluteEnds is the interval of a difference, as large as it is in either direction.
func absoluteEnds(c lab.Comparison) string {
	least, most := format.AbsoluteEnds(c.Low, c.High)
	if c.Bound == lab.AtMost {
		return "[" + least + ", 100)"
	}
	return c.Bound.Interval(least, most, "0")
}

// asMuch follows a multiple whose measure was named before.
func asMuch(p phrase) string {
	switch {
	case p.counts:
		return "as many"
	case p.verb == "has":
		return "as high"
	}
	return "as much"
}
