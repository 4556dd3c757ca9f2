package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"dyno/load"
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
	if iv.Warmup {
		when = "warm-up"
	}
	avg, p50, p99 := tooFew, tooFew, tooFew
	if iv.Completed > 0 {
		avg, p50, p99 = nanos(iv.Mean), nanos(iv.P50), nanos(iv.P99)
	}
	return fmt.Sprintf(secondLine, when, count(total), digits3(perSecond(iv, iv.Completed)),
		avg, p50, p99, size(perSecond(iv, iv.Received)), size(perSecond(iv, iv.Written)),
		count(iv.Failed))
}

// Live is one interval in a line that replaces the one before it.
func Live(iv load.Interval) string {
	when := digits3(iv.To.Seconds()) + " s"
	if iv.Warmup {
		when = "warm-up"
	}
	s := fmt.Sprintf("%s  %s requests/s", when, digits3(perSecond(iv, iv.Completed)))
	if iv.Completed > 0 {
		s += fmt.Sprintf("  p50 %s  p99 %s", nanos(iv.P50), nanos(iv.P99))
	}
	return s + fmt.Sprintf("  %s/s in  %s under way  %s", size(perSecond(iv, iv.Received)),
		count(iv.InFlight), many(iv.Failed, "error"))
}

func nanos(d time.Duration) string { return micros(float64(d) / 1e3) }

// perSecond is n of an interval, a second.
func perSecond(iv load.Interval, n int64) float64 {
	if iv.To <= iv.From {
		return 0
	}
	return float64(n) / (iv.To - iv.From).Seconds()
}
