package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/view/format"
)

const secondLine = "%7s %13s %10s %9s %9s %9s %9s %9s %8s"

// SecondHeader is the head of the lines of SecondLine.
func SecondHeader(p loadplan.Plan) string {
	s := fmt.Sprintf(secondLine, "Second", "Total", "Req/s", "Avg", "p50", "p99", "In/s", "Out/s",
		"Errors")
	if p.CountsIterations() {
		s += fmt.Sprintf(iterationColumns, "Iter/s", "Iter p99")
	}
	return s
}

// iterationColumns follow in the lines of scenarios whose iterations are not requests.
const iterationColumns = " %9s %9s"

// SecondLine is the line of one interval: when it ended, the total of requests
// completed so far, as the caller counts, and its own rates and latency.
func SecondLine(p loadplan.Plan, iv loadresult.Interval, total int64) string {
	when := strconv.FormatFloat(math.Round(iv.To.Seconds()*10)/10, 'f', -1, 64)
	avg, p50, p99 := format.TooFew, format.TooFew, format.TooFew
	if iv.Completed > 0 {
		avg, p50, p99 = format.Micros(iv.Mean), format.Micros(iv.P50), format.Micros(iv.P99)
	}
	s := fmt.Sprintf(secondLine, when, format.Count(total),
		PerSecondText(iv, format.Digits3, iv.Answered()),
		avg, p50, p99, PerSecondText(iv, format.Size, iv.Received),
		PerSecondText(iv, format.Size, iv.Written), format.Count(iv.Failed))
	if p.CountsIterations() {
		p99 := format.TooFew
		if iv.IterationTime.Count > 0 {
			p99 = format.Micros(float64(iv.IterationTime.Quantile(0.99)) / 1e3)
		}
		s += fmt.Sprintf(iterationColumns, PerSecondText(iv, format.Digits3, iv.Passed()), p99)
	}
	return s
}

// LiveLine is one interval in a line that replaces the one before it.
func LiveLine(iv loadresult.Interval) string {
	s := fmt.Sprintf("%s s  %s requests/s", format.Digits3(iv.To.Seconds()),
		PerSecondText(iv, format.Digits3, iv.Answered()))
	if iv.Completed > 0 {
		s += fmt.Sprintf("  p50 %s  p99 %s", format.Micros(iv.P50), format.Micros(iv.P99))
	}
	if iv.Passed()+iv.IterationsFailed > 0 {
		s += fmt.Sprintf("  %s iterations/s", PerSecondText(iv, format.Digits3, iv.Passed()))
	}
	return s + fmt.Sprintf("  %s/s in  %s in flight  %s", PerSecondText(iv, format.Size, iv.Received),
		format.Count(iv.InFlight), format.Plural(iv.Failed, "error"))
}

// ActiveUsers is how many users there were at an interval's end, for the end of its line; "" if
// their number does not change.
func ActiveUsers(p loadplan.Plan, iv loadresult.Interval) string {
	if !p.Ramps() {
		return ""
	}
	return "  " + format.Plural(int64(p.UsersAt(iv.To)), "user")
}

// ShortestInterval is the shortest interval that has a rate: the last one may be the
// microseconds in which the requests in flight ended.
const ShortestInterval = time.Millisecond

// PerSecondText is the rate of n in an interval, as show writes it.
func PerSecondText(iv loadresult.Interval, show func(float64) string, n int64) string {
	if iv.To-iv.From < ShortestInterval {
		return format.TooFew
	}
	return show(float64(n) / (iv.To - iv.From).Seconds())
}
