package peers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/result"
)

// seconds4 is a time as hey writes it.
func seconds4(us float64) string { return fmt.Sprintf("%.4f secs", us/1e6) }

// bars are the counts of ten classes of latency from the fastest to the slowest, and the upper
// bound of each in µs. The first is the fastest alone.
func (v *view) bars() (bounds []float64, counts []int64) {
	d := v.latency
	before := int64(0)
	for i := range 11 {
		bound := d.Min + (d.Max-d.Min)/10*float64(i)
		n := v.upTo(bound)
		if i == 0 {
			n = max(n, min(d.Count, 1))
		}
		bounds, counts = append(bounds, bound), append(counts, n-before)
		before = n
	}
	return bounds, counts
}

// bar is a bar of a histogram, longest at most.
func bar(n, most int64, longest float64, round func(float64) float64) string {
	if most == 0 {
		return ""
	}
	return strings.Repeat("■", int(round(float64(n)*longest/float64(most))))
}

// hey writes the report of hey.
func (v *view) hey() {
	d, completed := v.latency, v.r.Requests.Completed
	total := v.seconds()
	if v.r.Ended == "duration" { // hey waits for what is in flight, and counts it
		total += v.r.Window.DrainedS
	}
	v.print("\nSummary:\n  Total:\t%s\n", seconds4(total*1e6))
	v.print("  Slowest:\t%s\n  Fastest:\t%s\n", seconds4(d.Max), seconds4(d.Min))
	v.print("  Average:\t%s\n", seconds4(meanOf(&d)))
	v.print("  Requests/sec:\t%.4f\n  \n", float64(completed)/max(total, 1e-9))
	if bytes := v.r.Bytes.Bodies; bytes > 0 && completed > 0 {
		v.print("  Total data:\t%d bytes\n  Size/request:\t%d bytes\n", bytes, bytes/completed)
	}
	v.print("\nResponse time histogram:\n")
	if d.Count > 0 {
		bounds, counts := v.bars()
		for i, n := range counts {
			v.print("  %.3f [%d]\t|%s\n", bounds[i]/1e6, n, bar(n, slices.Max(counts), 40, math.Floor))
		}
	}
	v.print("\n\nLatency distribution:\n")
	for _, p := range []float64{10, 25, 50, 75, 90, 95, 99} {
		if d.Count > 0 {
			v.print("  %.0f%% in %s\n", p, seconds4(v.quantile(p)))
		}
	}
	v.print("\nDetails (average, fastest, slowest):\n")
	row := func(name string, d *result.Distribution) {
		if d == nil || d.Count == 0 {
			v.print("  %s\t NaN secs, 0.0000 secs, 0.0000 secs\n", name)
			return
		}
		v.print("  %s\t%s, %s, %s\n", name, seconds4(d.Mean), seconds4(d.Min), seconds4(d.Max))
	}
	row("DNS+dialup:", v.r.Phases.Connect)
	row("DNS-lookup:", v.r.Phases.DNS)
	row("req write:", nil) // which dyno does not time apart
	row("resp wait:", v.r.Phases.FirstByte)
	row("resp read:", nil)
	v.print("\nStatus code distribution:\n")
	for _, code := range v.statuses() {
		v.print("  [%d]\t%d responses\n", code, v.answers(code, code))
	}
	if len(v.r.Errors) > 0 {
		v.print("\nError distribution:\n")
		for _, e := range v.r.Errors {
			v.print("  [%d]\t%s: %s\n", e.Count, e.Phase, e.Detail)
		}
	}
	v.print("\n\n\n")
}

// meanOf is a mean that is not a number if there is no value.
func meanOf(d *result.Distribution) float64 {
	if d.Count == 0 {
		return math.NaN()
	}
	return d.Mean
}
