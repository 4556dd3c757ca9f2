package labreport

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dyno/internal/digits"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/view/format"
)

// benchUnit is a measure's unit in Go benchmarks, which benchstat knows and scales, and
// how many of it one of ours is.
func benchUnit(m lab.Measure) (unit string, factor float64) {
	switch {
	case m.Name == "mean":
		return "ns/op", 1e3
	case m.Unit == "µs" || m.Unit == "µs/req":
		return m.Name + "-ns/op", 1e3
	case experiment.Metric(m.Name).IsCapacity(): // req/s is throughput
		return "capacity-" + m.Unit, 1
	case m.Unit == "µs/event":
		return "cpu-ns/event", 1e3
	case m.Unit == "MB":
		return m.Name + "-B", 1e6
	case m.Unit == "%":
		return m.Name + "-percent", 1
	case m.Unit == "bytes/req":
		return "B/op", 1
	}
	return m.Unit, 1
}

// Bench writes results as Go benchmarks, a line each: benchstat summarises and
// compares them. An operation is an exchange; ns/op is its mean latency, and not
// the time divided by how many there were. Results of one load have one name.
// Those of which nothing completed have no line.
func Bench(w io.Writer, rs ...*result.Result) error {
	d := format.NewDocument(w)
	all := make([]lab.TrialSummary, len(rs))
	for i, r := range rs {
		if all[i] = (&lab.Trial{Result: r}).Summary(); r.Requests.Completed == 0 {
			all[i].Values = nil
		}
	}
	for i, r := range rs {
		if i == 0 || r.Host != rs[i-1].Host {
			writeBenchHead(d, r.Host, all)
		}
		name := fmt.Sprintf("HTTP/%s/model=%s/connections=%d", benchLoad(r), r.Model,
			r.Plan.Connections)
		if offered := r.Offered(); offered != nil {
			name += "/rate=" + strconv.FormatFloat(*offered, 'f', -1, 64)
		}
		writeBenchLine(d, name, r.Requests.Completed, all[i])
	}
	return d.Err()
}

// benchLoad is what a run sent, as a part of a benchmark's name.
func benchLoad(r *result.Result) string {
	switch p := &r.Plan; {
	case len(p.Steps) > 0:
		return fmt.Sprintf("scenario_of_%d_steps", len(p.Steps))
	case p.Asks() == 1 && p.Whole():
		one := p.Requests[0].Written()
		return benchName(one.Method + "_" + one.Path)
	case p.Asks() == 1:
		return "one_request"
	}
	return fmt.Sprintf("%d_requests", r.Plan.Asks())
}

// ExperimentBench writes an experiment's trials as Go benchmarks, a line for each
// that measured something. "benchstat -col /variant" compares the variants; it
// does not know of rounds, so its intervals are wider than those of the report.
func ExperimentBench(w io.Writer, r *lab.Record) error {
	d := format.NewDocument(w)
	writeBenchHead(d, r.Host, r.Trials)
	for _, t := range r.Trials {
		name := fmt.Sprintf("%s/variant=%s/level=%s", benchName(r.Name), benchName(t.Arm),
			benchName(t.Level))
		writeBenchLine(d, name, 1, t)
	}
	return d.Err()
}

func writeBenchHead(d *format.Document, h result.Host, trials []lab.TrialSummary) {
	fmt.Fprintf(d, "goos: %s\ngoarch: %s\n", format.PlainLine(h.OS), format.PlainLine(h.Arch))
	if h.CPU != "" {
		fmt.Fprintf(d, "cpu: %s\n", format.PlainLine(h.CPU))
	}
	for _, m := range lab.MeasuresOf(trials) {
		better := map[int]string{1: "higher", -1: "lower"}[m.Better]
		unit, _ := benchUnit(m)
		fmt.Fprintf(d, "Unit %s better=%s\n", unit, better)
	}
}

// atLeastUnit is the unit of values that are only known to be higher: benchstat compares them
// with one another, and with no others.
const atLeastUnit = "at-least-"

// writeBenchLine writes a benchmark of so many operations, if anything was measured.
func writeBenchLine(d *format.Document, name string, operations int64, t lab.TrialSummary) {
	if len(t.Values) == 0 {
		return
	}
	fmt.Fprintf(d, "Benchmark%s %d", digits.Capital(name), operations)
	for _, m := range lab.Measures {
		if v, ok := t.Values[m.Name]; ok {
			unit, factor := benchUnit(m)
			if slices.Contains(t.Over, m.Name) {
				unit = atLeastUnit + unit
			}
			fmt.Fprintf(d, " %s %s", strconv.FormatFloat(v*factor, 'g', 9, 64), unit)
		}
	}
	fmt.Fprintln(d)
}

// benchName is s as a part of a benchmark's name: without what ends one, and so
// that what differs still does.
func benchName(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '/' || r == '%' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			b.WriteString(url.PathEscape(string(r)))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
