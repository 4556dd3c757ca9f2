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
	v.print("\nSummary:\n  Total:\t%s\n", seconds4(v.seconds()*1e6))
	v.print("  Slowest:\t%s\n  Fastest:\t%s\n", seconds4(d.Max), seconds4(d.Min))
	v.print("  Average:\t%s\n", seconds4(meanOf(&d)))
	v.print("  Requests/sec:\t%.4f\n  \n", v.perSecond(completed))
	if bytes := v.r.Bytes.Received; bytes > 0 && completed > 0 {
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

// oha writes the report of oha, in milliseconds or, where the slowest took longer, in seconds.
func (v *view) oha() {
	d, completed := v.latency, v.r.Requests.Completed
	unit, each := "ms", 1e3
	if v.seconds() >= 10 {
		unit, each = "sec", 1e6
	}
	t := func(us float64) string { return fmt.Sprintf("%.4f %s", us/each, unit) }
	all := v.r.Requests.Sent
	v.print("Summary:\n  Success rate:\t%.2f%%\n", 100*float64(completed)/float64(max(all, 1)))
	v.print("  Total:\t%s\n  Slowest:\t%s\n  Fastest:\t%s\n", t(v.seconds()*1e6), t(d.Max), t(d.Min))
	v.print("  Average:\t%s\n  Requests/sec:\t%.4f\n\n", t(meanOf(&d)), v.perSecond(completed))
	bytes := v.r.Bytes.Received
	v.print("  Total data:\t%s\n  Size/request:\t%s\n  Size/sec:\t%s\n\n", binaryBytes(float64(bytes)),
		binaryBytes(float64(bytes)/float64(max(completed, 1))), binaryBytes(v.perSecond(bytes)))
	v.print("Response time histogram:\n")
	bounds, counts := v.bars()
	wide := len(fmt.Sprintf("%.3f", bounds[10]/each))
	countWide := len(fmt.Sprint(slices.Max(counts))) + 2
	for i, n := range counts {
		v.print("  %*.3f %s %-*s |%s\n", wide, bounds[i]/each, unit, countWide, fmt.Sprintf("[%d]", n),
			bar(n, slices.Max(counts), 32, math.Round))
	}
	v.print("\nResponse time distribution:\n")
	for _, p := range []float64{10, 25, 50, 75, 90, 95, 99, 99.9, 99.99} {
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
	for _, code := range v.statuses() {
		v.print("  [%d] %d responses\n", code, v.answers(code, code))
	}
	if len(v.r.Errors) > 0 {
		v.print("\nError distribution:\n")
		for _, e := range v.r.Errors {
			v.print("  [%d] %s: %s\n", e.Count, e.Phase, e.Detail)
		}
	}
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
