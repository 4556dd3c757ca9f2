package chart

import (
	"cmp"
	"fmt"
	"math"

	"dyno/internal/result"
	"dyno/internal/result/streamed"
	"dyno/internal/view/format"
)

// streamViews are views of streams of events: how long they took over time, and when each event of
// some came.
func streamViews(r *result.Result, over []interval) []View {
	if r.Stream == nil {
		return nil
	}
	return []View{
		timesView("first-events", "First events over time", "time from due to the first event", over,
			func(p *result.Point) (float64, float64) { return p.FirstP50US, p.FirstP99US }),
		timesView("gaps", "Gaps over time", "time between two arrivals of a stream", over,
			func(p *result.Point) (float64, float64) { return p.GapP50US, p.GapP99US }),
		rainView(r.Stream),
	}
}

// timesView is the p50 and p99 of each second.
func timesView(name, title, unit string, over []interval,
	of func(*result.Point) (p50, p99 float64)) View {
	v := timeView(name, title, unit+", by second", over)
	v.Foot = append(v.Foot, "a gap in a line: none in that time")
	var values []float64
	for i, percentile := range []string{"p50", "p99"} {
		m := percentileLine(percentile, steps(over, func(p *result.Point) float64 {
			y := [2]float64{}
			if y[0], y[1] = of(p); y[i] > 0 {
				values = append(values, y[i])
				return y[i]
			}
			return math.NaN()
		}))
		m.Kind = Steps
		v.Marks = append(v.Marks, m)
		v.Legend = append(v.Legend, Key{Name: percentile, Ink: m.Ink, Dash: m.Dash})
	}
	if len(values) == 0 {
		v.Empty = cmp.Or(v.Empty, "There was none in any second of the window.")
		return v
	}
	v.Y = timeAxis(values, "time").orLinear("time")
	v.Summary = fmt.Sprintf("%s, between %s and %s", title, format.Micros(v.Y.Low),
		format.Micros(v.Y.High))
	return v
}

// rainView has a row of dots for each sampled stream, one for each arrival.
func rainView(s *streamed.Stream) View {
	v := View{Name: "rain", Title: "Rain", Unit: "when events came, of some streams",
		Section: "over-time", Foot: []string{fmt.Sprintf("n = %s, evenly spread over the window; a dot "+
			"is an arrival", format.Plural(int64(len(s.Samples)), "stream"))}}
	begins := Mark{Kind: Dot, Name: "first event", Ink: "c2", Width: 2}
	drops := Mark{Kind: Dot, Name: "later events", Ink: "c1", Width: 1.2}
	last, each := 0.0, 1
	for i, x := range s.Samples {
		each = max(each, x.Each)
		for k, us := range x.Arrivals {
			p := Point{X: float64(us) / 1e6, Y: float64(i + 1)}
			if last = max(last, p.X); k == 0 {
				begins.Points = append(begins.Points, p)
			} else {
				drops.Points = append(drops.Points, p)
			}
		}
	}
	if len(begins.Points) == 0 {
		v.Empty = "The result has no samples of streams."
		return v
	}
	if each > 1 {
		v.Foot = append(v.Foot, fmt.Sprintf("of long streams one arrival in %d", each))
	}
	for _, m := range []Mark{drops, begins} {
		v.Marks = append(v.Marks, m)
		v.Legend = append(v.Legend, Key{Name: m.Name, Ink: m.Ink, Kind: Dot})
	}
	v.X = linear(last, "time since the stream was due, s", "")
	v.Y = linear(float64(len(s.Samples)), "streams, by when they were due", "")
	v.Summary = fmt.Sprintf("When the events of %s came: the last %s after it was due",
		format.Plural(int64(len(s.Samples)), "stream"), format.Micros(last*1e6))
	return v
}
