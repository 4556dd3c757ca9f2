package peers

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"dyno/internal/result"
)

// ohaUnits are the units of oha's text, by their names in --time-unit: what stands behind a number,
// and how many µs it is. Those without a name are chosen by the slowest request only.
var ohaUnits = []struct {
	flag, name string
	us         float64
}{
	{"h", "hr", 3600e6}, {"", "10 min", 600e6}, {"m", "min", 60e6}, {"", "10 sec", 10e6},
	{"s", "sec", 1e6}, {"ms", "ms", 1e3}, {"us", "us", 1}, {"ns", "ns", 1e-3},
}

// OhaUnits are the values of --time-unit, the shortest first.
func OhaUnits() (all []string) {
	for _, u := range ohaUnits {
		if u.flag != "" {
			all = append(all, u.flag)
		}
	}
	slices.Reverse(all)
	return all
}

// ohaUnit is the unit of the report: the one asked for, or the longest that the slowest request
// is longer than.
func (v *view) ohaUnit() (name string, us float64) {
	for _, u := range ohaUnits {
		if v.Unit != "" && u.flag == v.Unit || v.Unit == "" && v.latency.Max > u.us {
			return u.name, u.us
		}
	}
	return "sec", 1e6
}

// ohaPercentiles are those of its report.
var ohaPercentiles = []float64{10, 25, 50, 75, 90, 95, 99, 99.9, 99.99}

// oha writes the report of oha.
func (v *view) oha() error {
	switch v.Form {
	case "quiet":
		return nil
	case "json":
		return v.ohaJSON()
	}
	d, completed := v.latency, v.completed()
	unit, each := v.ohaUnit()
	t := func(us float64) string { return fmt.Sprintf("%.4f %s", us/each, unit) }
	v.print("Summary:\n  Success rate:\t%.2f%%\n", 100*v.successShare())
	v.print("  Total:\t%s\n  Slowest:\t%s\n  Fastest:\t%s\n", t(v.seconds()*1e6), t(d.Max), t(d.Min))
	v.print("  Average:\t%s\n  Requests/sec:\t%.4f\n\n", t(meanOf(&d)), v.perSecond(completed))
	bytes := v.r.Bytes.Bodies
	v.print("  Total data:\t%s\n  Size/request:\t%s\n  Size/sec:\t%s\n\n", binaryBytes(float64(bytes)),
		binaryBytes(float64(bytes)/float64(max(completed, 1))), binaryBytes(v.perSecond(bytes)))
	v.print("Response time histogram:\n")
	bounds, counts := v.bars()
	wide := len(strconv.FormatInt(int64(bounds[len(bounds)-1]/each), 10)) + len(".000")
	countWide := len(fmt.Sprint(slices.Max(counts))) + 2
	for i, n := range counts {
		v.print("  %*.3f %s %-*s |%s\n", wide, bounds[i]/each, unit, countWide, fmt.Sprintf("[%d]", n),
			bar(n, slices.Max(counts), 32, math.Floor))
	}
	v.print("\nResponse time distribution:\n")
	for _, p := range ohaPercentiles {
		v.print("  %.2f%% in %s\n", p, t(v.quantile(p)))
	}
	v.print("\n\nDetails (average, fastest, slowest):\n")
	row := func(name string, d *result.Distribution) {
		if d == nil {
			d = &result.Distribution{}
		}
		v.print("  %s\t%s, %s, %s\n", name, t(meanOf(d)), t(d.Min), t(d.Max))
	}
	row("DNS+dialup:", v.r.Phases.Connect)
	row("DNS-lookup:", v.r.Phases.DNS)
	v.print("\nStatus code distribution:\n")
	codes := v.statuses() // the most frequent first
	slices.SortStableFunc(codes, func(a, b int) int { return int(v.answers(b, b) - v.answers(a, a)) })
	for _, code := range codes {
		v.print("  [%d] %d responses\n", code, v.answers(code, code))
	}
	if len(v.r.Errors) > 0 {
		v.print("\nError distribution:\n")
		for _, e := range v.r.Errors {
			v.print("  [%d] %s: %s\n", e.Count, e.Phase, e.Detail)
		}
	}
	return nil
}

// successShare is the share of requests that were answered, from 0 to 1.
func (v *view) successShare() float64 {
	return float64(v.r.Requests.Completed) / float64(max(v.r.Requests.Sent, 1))
}

// binaryBytes is a size as oha writes it.
func binaryBytes(n float64) string {
	names := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; n >= 1024 && i+1 < len(names); i++ {
		n /= 1024
	}
	if i == 0 {
		return fmt.Sprintf("%.0f B", n)
	}
	return fmt.Sprintf("%.2f %s", n, names[i])
}

// The keys of oha's JSON, which has seconds. What was not measured is null.
type (
	ohaReport struct {
		Summary    ohaSummary          `json:"summary"`
		Metrics    ohaMetrics          `json:"metrics"`
		Times      map[string]int64    `json:"responseTimeHistogram"`
		Latency    map[string]*float64 `json:"latencyPercentiles"`
		FirstTimes map[string]int64    `json:"firstByteHistogram"`
		First      map[string]*float64 `json:"firstBytePercentiles"`
		Rates      ohaRates            `json:"rps"`
		Details    ohaDetails          `json:"details"`
		Status     map[string]int64    `json:"statusCodeDistribution"`
		Errors     map[string]int64    `json:"errorDistribution"`
	}
	ohaSummary struct {
		Success float64  `json:"successRate"`
		Total   float64  `json:"total"`
		Slowest *float64 `json:"slowest"`
		Fastest *float64 `json:"fastest"`
		Average *float64 `json:"average"`
		Rate    float64  `json:"requestsPerSec"`
		Bytes   int64    `json:"totalData"`
		Each    *int64   `json:"sizePerRequest"`
		Second  float64  `json:"sizePerSec"`
	}
	ohaMetrics struct {
		Success float64 `json:"success_rate"`
		Rate    float64 `json:"requests_per_sec"`
		Latency struct {
			Min  *float64 `json:"min"`
			Mean *float64 `json:"mean"`
			P50  *float64 `json:"p50"`
			P95  *float64 `json:"p95"`
			P99  *float64 `json:"p99"`
			Max  *float64 `json:"max"`
		} `json:"latency_ms"`
	}
	ohaRates struct {
		Mean        float64             `json:"mean"`
		Stdev       float64             `json:"stddev"`
		Max         float64             `json:"max"`
		Min         float64             `json:"min"`
		Percentiles map[string]*float64 `json:"percentiles"`
	}
	ohaTriple struct {
		Average *float64 `json:"average"`
		Fastest *float64 `json:"fastest"`
		Slowest *float64 `json:"slowest"`
	}
	ohaDetails struct {
		Dialup ohaTriple `json:"DNSDialup"`
		Lookup ohaTriple `json:"DNSLookup"`
		First  ohaTriple `json:"firstByte"`
	}
)

// ohaJSON writes the report of oha as JSON.
func (v *view) ohaJSON() error {
	d, completed := v.latency, v.completed()
	first := v.firstByte()
	r := ohaReport{Times: v.ohaBars(), Latency: v.ohaQuantiles(1e6), FirstTimes: first.ohaBars(),
		First: first.ohaQuantiles(1e6), Rates: v.ohaRates(), Status: map[string]int64{},
		Errors: map[string]int64{}}
	t := ohaTripleOf(&d, 1e6)
	r.Summary = ohaSummary{v.successShare(), v.seconds(), t.Slowest, t.Fastest, t.Average,
		v.perSecond(completed), v.r.Bytes.Bodies, nil, v.perSecond(v.r.Bytes.Bodies)}
	if completed > 0 {
		each := v.r.Bytes.Bodies / completed
		r.Summary.Each = &each
	}
	ms, quantiles := ohaTripleOf(&d, 1e3), v.ohaQuantiles(1e3)
	r.Metrics.Success, r.Metrics.Rate = r.Summary.Success, r.Summary.Rate
	l := &r.Metrics.Latency
	l.Min, l.Mean, l.Max = ms.Fastest, ms.Average, ms.Slowest
	l.P50, l.P95, l.P99 = quantiles["p50"], quantiles["p95"], quantiles["p99"]
	r.Details = ohaDetails{ohaTripleOf(v.r.Phases.Connect, 1e6), ohaTripleOf(v.r.Phases.DNS, 1e6),
		ohaTripleOf(v.r.Phases.FirstByte, 1e6)}
	if v.r.Phases.DNS == nil { // an address needs no lookup
		r.Details.Lookup = ohaTriple{new(float64), new(float64), new(float64)}
	}
	for _, code := range v.statuses() {
		r.Status[strconv.Itoa(code)] = v.answers(code, code)
	}
	for _, e := range v.r.Errors {
		r.Errors[e.Phase+": "+e.Detail] += e.Count
	}
	text, err := json.MarshalIndent(r, "", "  ")
	v.print("%s\n", text)
	return err
}

// firstByte is a view in which times are those until the first byte of an answer.
func (v *view) firstByte() *view {
	first := *v.r
	first.Latency = v.r.Phases.FirstByte
	return newView(v.Run, &first)
}

// ohaBars are the classes of latency, by their upper bound in seconds.
func (v *view) ohaBars() map[string]int64 {
	all := map[string]int64{}
	if v.latency.Count == 0 {
		return all
	}
	bounds, counts := v.bars()
	for i, n := range counts {
		all[strconv.FormatFloat(bounds[i]/1e6, 'f', -1, 64)] += n
	}
	return all
}

// ohaQuantiles are the percentiles by their names, in units of so many µs.
func (v *view) ohaQuantiles(each float64) map[string]*float64 {
	all := map[string]*float64{}
	for _, p := range ohaPercentiles {
		name := "p" + strconv.FormatFloat(p, 'f', -1, 64)
		if all[name] = nil; v.latency.Count > 0 {
			value := v.quantile(p) / each
			all[name] = &value
		}
	}
	return all
}

// ohaRates are the requests a second, over the seconds of the run.
func (v *view) ohaRates() ohaRates {
	rates := v.secondRates()
	m := momentOf(rates)
	slices.Sort(rates)
	r := ohaRates{Mean: m.mean, Stdev: m.stdev, Max: m.max, Min: rates[0],
		Percentiles: map[string]*float64{}}
	for _, p := range ohaPercentiles {
		value := rates[min(int(p/100*float64(len(rates))), len(rates)-1)]
		r.Percentiles["p"+strconv.FormatFloat(p, 'f', -1, 64)] = &value
	}
	return r
}

// ohaTripleOf is what is known of some times, in units of so many µs; null if there were none.
func ohaTripleOf(d *result.Distribution, each float64) (t ohaTriple) {
	if d == nil || d.Count == 0 {
		return t
	}
	mean, least, most := d.Mean/each, d.Min/each, d.Max/each
	return ohaTriple{&mean, &least, &most}
}
