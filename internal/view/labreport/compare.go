package labreport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
)

// failedTold is the share of requests that failed above which a comparison says so.
const failedTold = 0.01

const (
	mostDiffering = 20 // settings listed
	widestSetting = 30 // characters of one
)

// A measure is a row of a comparison. Its value of a result is ok if there is
// one.
type measure struct {
	name string
	show func(float64) string
	of   func(r *result.Result) (value float64, ok bool)
	some bool                        // there is no row if no result has a value
	over func(r *result.Result) bool // the value is only known to be higher; nil: never
}

func comparedMeasures() []measure {
	always := func(name string, show func(float64) string,
		of func(r *result.Result) (float64, bool)) measure {
		return measure{name, show, of, false, nil}
	}
	all := []measure{always("requests/s", format.Digits3, func(r *result.Result) (float64, bool) {
		return r.Rate.Completed, true
	})}
	for _, q := range report.Quantiles {
		if q.Name == "min" || q.Name == "stdev" {
			continue
		}
		m := always(q.Name, format.Micros, quantileOf(q, latencyOf))
		m.over = isOver(q, latencyOf)
		if q.Name == "mean" { // of all requests, not only of those answered
			q.Of = (*result.Distribution).LeastMean
			m.of = quantileOf(q, latencyOf)
			m.over = func(r *result.Result) bool { return r.Latency != nil && r.Latency.Over != nil }
		}
		all = append(all, m)
	}
	for _, q := range report.Quantiles {
		if q.Name == "p50" || q.Name == "p99" {
			all = append(all, measure{"error " + q.Name, format.Micros, quantileOf(q, errorLatencyOf),
				true, nil})
		}
	}
	all = slices.Concat(all, scenarioMeasures(), streamMeasures())
	return append(all,
		always("generator CPU/request", format.Micros, func(r *result.Result) (float64, bool) {
			return r.Generator.CPUPerRequest, r.Generator.CPUPerRequest > 0
		}),
		always("errors", format.Exact3, func(r *result.Result) (float64, bool) {
			return float64(r.Requests.Errors), true
		}))
}

// differingPart is in what the plans and machines differ, and what follows from that.
func differingPart(rows format.Table) document.Part {
	p := document.Part{Text: likenessText(rows), Sides: "l"}
	if len(rows) == 0 {
		return p
	}
	head := []string{""}
	for i := range rows[0][1:] {
		head = append(head, letterOf(i))
	}
	p.Table = append(format.Table{head}, rows[:min(len(rows), mostDiffering)]...)
	if n := len(rows) - mostDiffering; n > 0 {
		p.Under = []string{"and " + format.Count(int64(n)) + " more"}
	}
	return p
}

func letterOf(i int) string { return judge.Letter(i) }

func sideBySide(rs []*result.Result) format.Table {
	verdicts := []string{"generator"}
	for i, r := range rs {
		if verdicts = append(verdicts, report.GeneratorWord(r)); i > 0 {
			verdicts = append(verdicts, "")
		}
	}
	t := format.Table{besideHead(rs)}
	for _, m := range comparedMeasures() {
		if row := m.row(rs); row != nil {
			t = append(t, row)
		}
	}
	return append(t, verdicts)
}

// besideHead is the head of a table of measures.
func besideHead(rs []*result.Result) []string {
	head := []string{""}
	for i := range rs {
		if head = append(head, letterOf(i)); i > 0 {
			head = append(head, letterOf(i)+" against A")
		}
	}
	return head
}

// row is the measure's row of a table; nil if there is none without a value, and none has one.
func (m measure) row(rs []*result.Result) []string {
	has := func(r *result.Result) bool { _, ok := m.of(r); return ok }
	if m.some && !slices.ContainsFunc(rs, has) {
		return nil
	}
	row := []string{m.name}
	base, known := m.of(rs[0])
	for i, r := range rs {
		value, ok := m.of(r)
		cell, ratio := format.TooFew, ""
		if ok {
			cell = m.valueText(r, value)
		}
		if ok && known && base > 0 {
			ratio = m.changeText(rs[0], r, value/base)
		}
		row = append(row, cell)
		if i > 0 {
			row = append(row, ratio)
		}
	}
	return row
}

// valueText is a value, "over 2.00 s" if it is only known to be higher.
func (m measure) valueText(r *result.Result, value float64) string {
	return format.Known(m.over != nil && m.over(r), m.show(value))
}

// changeText is a ratio to the first result's value. If one of the values is only known to be
// higher, so is the ratio, or it is known to be lower; if both are, nothing is known of it.
func (m measure) changeText(first, r *result.Result, ratio float64) string {
	known := lab.Bound("")
	if m.over != nil && r != first {
		known = lab.BoundOf(m.over(r), m.over(first))
	}
	return known.ChangeAlone(ratio)
}

// singleRunCautions are what keeps one from concluding too much from single results.
func singleRunCautions(rs []*result.Result) []string {
	var all []string
	for i, r := range rs {
		if why := r.Partial(); why != "" && r.Requests.Completed > 0 {
			all = append(all, fmt.Sprintf("%s is only a part of what was planned: %s", letterOf(i),
				format.PlainLine(why)))
		}
		if n, sent := r.Requests.Errors, r.Requests.Sent; float64(n) > failedTold*float64(sent) {
			all = append(all, fmt.Sprintf("%.1f %% of the requests of %s failed: its rate and latencies "+
				"are those of the others", 100*float64(n)/float64(sent), letterOf(i)))
		}
		if r.Generator.Verdict != result.OK || r.Generator.NotJudged() {
			word := report.GeneratorWord(r)
			if word == result.OK {
				word = r.Generator.Verdict // because of the server
			}
			all = append(all, fmt.Sprintf("%s is %s: %s", letterOf(i), word,
				strings.Join(report.Reasons(r), "; ")))
		}
		if r.Model != rs[0].Model {
			all = append(all, fmt.Sprintf("A is %s and %s is %s: their latencies are not the same "+
				"quantity", format.PlainLine(rs[0].Model), letterOf(i), format.PlainLine(r.Model)))
		}
	}
	if f := result.RatesApart(rs); f != nil {
		all = append(all, say.Start(*f))
	}
	return all
}

// likenessText says whether like is compared with like.
func likenessText(differing format.Table) []string {
	var all []string
	if slices.ContainsFunc(differing, func(row []string) bool {
		return strings.HasPrefix(row[0], "host.")
	}) {
		all = append(all, "The machines that made the load differ, and the ratios are also those of the "+
			"machines.")
	}
	switch target := func(row []string) bool { return isTarget(row[0]) }; {
	case len(differing) == 0:
		return append(all, "Plans and machines are the same.")
	case !slices.ContainsFunc(differing, func(row []string) bool { return !target(row) }):
		return append(all, "Plans and machines are the same but for the target:")
	}
	return append(all, "Compare only like with like. The ratios are also those of:")
}

// isTarget reports whether a setting says only where requests go.
func isTarget(setting string) bool {
	return strings.HasPrefix(setting, "target.") || strings.HasSuffix(setting, ".authority")
}

// differingSettings has a row for each setting in which not all plans, machines and
// versions agree, and in it for each group what its results have.
func differingSettings(groups [][]*result.Result) (format.Table, error) {
	all := make([]map[string][]string, len(groups)) // what each group has of a setting
	settings := map[string]bool{}
	for i, rs := range groups {
		all[i] = map[string][]string{}
		for _, r := range rs {
			leaves, err := flatSettings(r)
			if err != nil {
				return nil, err
			}
			for s, value := range leaves {
				settings[s] = true
				if !slices.Contains(all[i][s], value) {
					all[i][s] = append(all[i][s], value)
				}
			}
		}
	}
	var t format.Table
	for _, s := range slices.Sorted(maps.Keys(settings)) {
		row, differ := []string{s}, false
		first := strings.Join(slices.Sorted(slices.Values(all[0][s])), " / ")
		for i := range groups {
			value := strings.Join(slices.Sorted(slices.Values(all[i][s])), " / ")
			row = append(row, shortenSetting(value))
			differ = differ || value != first
		}
		if differ {
			t = append(t, row)
		}
	}
	return t, nil
}

func shortenSetting(s string) string {
	s = format.PlainLine(s)
	if s == "" {
		return format.TooFew
	}
	if r := []rune(s); len(r) > widestSetting {
		return string(r[:widestSetting-1]) + "…"
	}
	return s
}

// flatSettings is all that decided the run, as a setting for each leaf of its JSON:
// target.url, requests[0].path.
func flatSettings(r *result.Result) (map[string]string, error) {
	leaves := map[string]string{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, child := range v {
				walk(strings.TrimPrefix(at+"."+k, "."), child)
			}
		case []any:
			for i, child := range v {
				walk(fmt.Sprintf("%s[%d]", at, i), child)
			}
		default:
			leaves[at] = fmt.Sprint(v)
		}
	}
	for at, v := range map[string]any{"": r.Plan, "host": r.Host, "dyno": r.Dyno} {
		b, err := json.Marshal(v)
		var tree any
		numbers := json.NewDecoder(bytes.NewReader(b))
		numbers.UseNumber() // as they are written: a seed has all its digits
		if err = errors.Join(err, numbers.Decode(&tree)); err != nil {
			return nil, err
		}
		walk(at, tree)
	}
	return leaves, nil
}
