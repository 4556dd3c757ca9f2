package peers

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// goMeter writes the report of go-meter. Its times had whole milliseconds; these have microseconds.
func (v *view) goMeter() {
	d, completed := v.latency, v.completed()
	t := func(us float64) string { return time.Duration(math.Round(us) * 1e3).String() }
	limit := ""
	if v.Limit > 0 {
		limit = fmt.Sprintf(", max req/sec: %.0f,", v.Limit)
	}
	v.print("Running test threads: %d, connections: %d%s in %v %s %s\n", v.Threads, v.Connections,
		limit, v.Duration, v.Method, v.URL)
	if v.Detail {
		v.goMeterSeconds()
	}
	v.print("Stats:      %9s %9s %9s\n", "Min", "Avg", "Max")
	v.print("  Latency   %9s %9s %9s\n", t(d.Min), t(d.Mean), t(d.Max))
	v.print("  %d requests in %s", completed, time.Duration(math.Round(v.seconds()*1e3)*1e6))
	read, write := v.failed("read", "protocol", "timeout"), v.failed("write")
	read += v.r.Requests.Unfinished
	share := func(n int64) float64 { return 100 * float64(n) / float64(max(completed, 1)) }
	if read+write > 0 {
		v.print(", errors: read %d - %.2f%%, write %d - %.2f%%", read, share(read), write, share(write))
	}
	v.print(", net: in %s, out %s\n", binaryPrefix(v.r.Bytes.Received, "B"),
		binaryPrefix(v.r.Bytes.Sent, "B"))
	if n := v.failed("dns", "connect", "tls"); n > 0 {
		v.print("  connection errors: %d\n", n)
	}
	if completed > 0 {
		v.print("HTTP Codes: \n")
		for _, code := range v.statuses() {
			v.print("     %d    %9.2f%%\n", code, share(v.answers(code, code)))
		}
		v.print("Latency: \n")
		v.goMeterLatency()
	}
	v.print("Requests: %.2f/sec\n", v.perSecond(completed))
	in, out := v.r.Bytes.Received, v.r.Bytes.Sent
	second := func(n int64) int64 { return int64(v.perSecond(n)) }
	v.print("Net In: %s/sec\n", binaryPrefix(8*second(in), "Bit"))
	v.print("Net Out: %s/sec\n", binaryPrefix(8*second(out), "Bit"))
	v.print("Transfer: %s/sec\n", binaryPrefix(second(in+out), "B"))
}

// goMeterSeconds writes a line for each second.
func (v *view) goMeterSeconds() {
	v.print("%-10s %-10s %-10s %-10s %-10s %-10s\n", "Second", "Total", "Req/sec", "Avg/sec", "In/sec",
		"Out/sec")
	total := int64(0)
	for _, p := range v.r.Series {
		if p.T > v.seconds()+0.5 {
			continue // after the window
		}
		total += p.Completed
		second := time.Duration(math.Round(p.T)) * time.Second
		v.print("%-10s %-10d %-10d %-10s %-10s %-10s\n", second, total, p.Completed,
			time.Duration(math.Round(p.Mean)*1e3), binaryPrefix(8*p.Received, "Bit"),
			binaryPrefix(8*p.Written, "Bit"))
	}
	v.print("-------------------------------------------------------------\n")
}

// goMeterLatency writes the share of requests in each class of 10 ms. Neighbours with less than a
// percent each are one line.
func (v *view) goMeterLatency() {
	const class = 10_000 // µs
	type row struct {
		from, to int
		n        int64
	}
	var rows []row
	small := func(n int64) bool { return n*100 < v.latency.Count }
	before := int64(0)
	last := int(v.latency.Max / class)
	for i := int(v.latency.Min / class); i <= last && len(rows) < 1000; i++ {
		until := v.upTo(float64(i+1)*class - 0.001)
		n := until - before
		before = until
		switch k := len(rows) - 1; {
		case n == 0:
		case k >= 0 && small(n) && small(rows[k].n):
			rows[k].to, rows[k].n = i, rows[k].n+n
		default:
			rows = append(rows, row{i, i, n})
		}
	}
	var names []string
	wide := 0
	for _, r := range rows {
		name := (time.Duration(r.from) * 10 * time.Millisecond).String()
		if r.to != r.from {
			name += " - " + (time.Duration(r.to) * 10 * time.Millisecond).String()
		}
		names, wide = append(names, name), max(wide, len(name))
	}
	for i, r := range rows {
		v.print("     %*s    %9.2f%%\n", wide, names[i], 100*float64(r.n)/float64(v.latency.Count))
	}
}

// binaryPrefix is a number of bytes or bits as go-meter writes it: 1 KB is 1024 bytes.
func binaryPrefix(n int64, unit string) string {
	if n < 10 {
		return strconv.FormatInt(n, 10) + "B"
	}
	x, i := float64(n), 0
	for ; x >= 1024 && i < 6; i++ {
		x /= 1024
	}
	digits := 0
	if x < 10 {
		digits = 1
	}
	return fmt.Sprintf("%.*f%s%s", digits, x, []string{"", "K", "M", "G", "T", "P", "E"}[i], unit)
}
