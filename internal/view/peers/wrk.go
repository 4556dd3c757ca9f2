package peers

import (
	"fmt"
	"strings"
)

// units are the names of a unit and of its multiples, and how many of one are the next.
type units struct {
	scale float64
	names []string
}

var (
	microseconds = units{1000, []string{"us", "ms", "s"}}
	longTimes    = units{60, []string{"s", "m", "h"}}
	thousands    = units{1000, []string{"", "k", "M", "G", "T", "P"}}
	kibibytes    = units{1024, []string{"", "K", "M", "G", "T", "P"}}
)

// scaled is a value as wrk writes it: in the next unit from 85 % of that on.
func (u units) scaled(value float64, digits int) string {
	i := 0
	for i+1 < len(u.names) && value >= u.scale*0.85 {
		value /= u.scale
		i++
	}
	return fmt.Sprintf("%.*f%s", digits, value, u.names[i])
}

// microtime is a time as wrk writes it.
func microtime(us float64) string {
	if us < 60e6*0.85 {
		return microseconds.scaled(us, 2)
	}
	return longTimes.scaled(us/1e6, 2)
}

// aligned is a text in a column: its digits end two letters before the column does.
func aligned(s string, width int) string {
	letters := min(len(s)-len(strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzGMTP")), 2)
	return fmt.Sprintf("%*s%s", width-2+letters, s, "  "[letters:])
}

// wrk writes the report of wrk, or of wrk2.
func (v *view) wrk() {
	v.print("Running %s test @ %s\n", longTimes.scaled(v.Duration.Seconds(), 0), v.URL)
	v.print("  %d threads and %d connections\n", v.Threads, v.Connections)
	v.print("  Thread Stats%6s%11s%8s%12s\n", "Avg", "Stdev", "Max", "+/- Stdev")
	row := func(name string, m moment, text func(float64) string) {
		v.print("    %-10s%s%s%s%8.2f%%\n", name, aligned(text(m.mean), 8), aligned(text(m.stdev), 10),
			aligned(text(m.max), 9), m.within)
	}
	row("Latency", moment{v.latency.Mean, v.latency.Stdev, v.latency.Max, v.within()}, microtime)
	row("Req/Sec", v.perThread(), func(n float64) string { return thousands.scaled(n, 2) })
	switch {
	case v.Tool == "wrk2" && v.Detail:
		v.spectrum("Recorded Latency")
		if v.Uncorrected {
			v.print("\n")
			v.service().spectrumInto(v)
		}
	case v.Detail:
		v.print("  Latency Distribution\n")
		for _, p := range []float64{50, 75, 90, 99} {
			v.print("%7.0f%%%s\n", p, aligned(microtime(v.quantile(p)), 10))
		}
	}
	v.print("  %d requests in %s, %sB read\n", v.completed(), microtime(v.seconds()*1e6),
		kibibytes.scaled(float64(v.r.Bytes.Received), 2))
	connect, read := v.failed("dns", "connect", "tls"), v.failed("read", "protocol")
	write, timeout := v.failed("write"), v.failed("timeout")+v.r.Requests.Unfinished
	if connect+read+write+timeout > 0 {
		v.print("  Socket errors: connect %d, read %d, write %d, timeout %d\n", connect, read, write,
			timeout)
	}
	if n := v.answers(400, 999); n > 0 {
		v.print("  Non-2xx or 3xx responses: %d\n", n)
	}
	v.print("Requests/sec: %9.2f\n", v.perSecond(v.completed()))
	v.print("Transfer/sec: %10sB\n", kibibytes.scaled(v.perSecond(v.r.Bytes.Received), 2))
}

// service is a view of the same result in which times are from when requests were sent.
func (v *view) service() *view {
	sent := *v.r
	sent.Latency = v.r.Service
	return newView(v.Run, &sent)
}

// spectrumInto writes the percentiles of wrk2's uncorrected latency to another view's text.
func (v *view) spectrumInto(to *view) {
	v.spectrum("Uncorrected Latency (measured without taking delayed starts into account)")
	to.out.WriteString(v.out.String())
}

// The structure of wrk2's histograms: 1 µs to 24 h, with three significant digits. dyno's have the
// same number of digits.
const (
	wrk2SubBuckets = 2048 // the power of two from 2 × 1000 on
	wrk2Buckets    = 27   // doublings of 2048 µs that reach 24 h, and one
)

// spectrum writes the percentiles of wrk2.
func (v *view) spectrum(name string) {
	v.print("  Latency Distribution (HdrHistogram - %s)\n", name)
	for _, p := range []float64{50, 75, 90, 99, 99.9, 99.99, 99.999, 100} {
		v.print("%7.3f%%%s\n", p, aligned(microtime(v.quantile(p)), 10))
	}
	v.print("\n  Detailed Percentile spectrum:\n")
	v.print("%12s %12s %12s %12s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	count := v.latency.Count
	for _, share := range spectrumShares(count) {
		us := v.quantile(100 * share)
		v.print("%12.3f %12.6f %12d", us/1e3, share, max(v.upTo(us), 1))
		if share < 1 {
			v.print(" %12.2f\n", 1/(1-share))
		} else {
			v.print(" %12s\n", "inf")
		}
	}
	v.print("#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", v.latency.Mean/1e3, v.latency.Stdev/1e3)
	v.print("#[Max     = %12.3f, Total count    = %12d]\n", v.latency.Max/1e3, count)
	v.print("#[Buckets = %12d, SubBuckets     = %12d]\n", wrk2Buckets, wrk2SubBuckets)
	v.print("----------------------------------------------------------\n")
}

// spectrumShares are the shares that are shown of so many values: ten steps up to a half, five for
// each further half of what is left.
func spectrumShares(count int64) (all []float64) {
	for i := range 6 {
		all = append(all, float64(i)/10)
	}
	for left := 0.5; left*float64(max(count, 1)) > 1; left /= 2 {
		for i := 1; i <= 5; i++ {
			all = append(all, 1-left+left/2*float64(i)/5)
		}
	}
	return append(all, 1)
}
