package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"dyno/internal/engine/load"
)

const secondLine = "%7s %13s %10s %9s %9s %9s %9s %9s %8s"

// SecondHeader is the head of the lines of Second.
func SecondHeader() string {
	return fmt.Sprintf(secondLine, "Second", "Total", "Req/s", "Avg", "p50", "p99", "In/s", "Out/s",
		"Errors")
}

// Second is the line of one interval: when it ended, the total of requests
// completed so far, as the caller counts, and its own rates and latency.
func Second(iv load.Interval, total int64) string {
	when := strconv.FormatFloat(math.Round(iv.To.Seconds()*10)/10, 'f', -1, 64)
	avg, p50, p99 := tooFew, tooFew, tooFew
	if iv.Completed > 0 {
		avg, p50, p99 = nanos(iv.Mean), nanos(iv.P50), nanos(iv.P99)
	}
	return fmt.Sprintf(secondLine, when, count(total), rateOf(iv, digits3, iv.Completed),
		avg, p50, p99, rateOf(iv, size, iv.Received), rateOf(iv, size, iv.Written), count(iv.Failed))
}

// Live is one interval in a line that replaces the one before it.
func Live(iv load.Interval) string {
	s := fmt.Sprintf("%s s  %s requests/s", digits3(iv.To.Seconds()),
		rateOf(iv, digits3, iv.Completed))
	if iv.Completed > 0 {
		s += fmt.Sprintf("  p50 %s  p99 %s", nanos(iv.P50), nanos(iv.P99))
	}
	return s + fmt.Sprintf("  %s/s in  %s under way  %s", rateOf(iv, size, iv.Received),
		count(iv.InFlight), Many(iv.Failed, "error"))
}

func nanos(d time.Duration) string { return micros(float64(d) / 1e3) }

// shortest is the shortest interval that has a rate: the last one may be the
// microseconds in which what was under way ended.
const shortest = time.Millisecond

// rateOf is n of an interval, a second, as show writes it.
func rateOf(iv load.Interval, show func(float64) string, n int64) string {
	if iv.To-iv.From < shortest {
		return tooFew
	}
	return show(float64(n) / (iv.To - iv.From).Seconds())
}
