package chart

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/payload"
)

// shownSpectra are the distributions that the page's spectrum has.
var shownSpectra = []string{"latency", "service", "error_latency", "iterations.time",
	"iterations.failed_time", "stream.first_event", "stream.gap", "phases.first_byte",
	"probe.latency"}

// runSpectrum is all of a distribution at once.
func runSpectrum(p payload.Run) View {
	v := View{Name: "spectrum", Title: "Percentile spectrum",
		Unit: "latency over percentile, log of 1/(1−p)",
		Foot: []string{"each line ends where fewer than 10 values lie beyond, or requests had no " +
			"answer", oneRun}, Section: first}
	var values []float64
	var names []string
	most := 0.0
	for _, s := range once(p.Spectra) {
		var points []Point
		for _, at := range s.Points {
			points = append(points, Point{X: percentileX(at[0]), Y: at[1]})
			values, most = append(values, at[1]), max(most, at[0])
		}
		m := styled(len(v.Marks), s.Name, points)
		m.Of, names = s.Name, append(names, s.Name)
		v.Marks = append(v.Marks, m)
		v.Legend = append(v.Legend, Key{Name: s.Name, Ink: m.Ink, Dash: m.Dash})
		if s.Of == "latency" {
			v.Foot = append([]string{fmt.Sprintf("n = %s", format.Plural(s.Count, "request"))}, v.Foot...)
		}
	}
	if len(v.Marks) == 0 {
		v.Empty = "No spectrum: " + spectrumWhy(p) + "."
	}
	v.X, v.Y = percentileAxis(most), timeAxis(values, "time").orLinear("time")
	if len(v.Marks) > 0 {
		last := v.Marks[0].Points[len(v.Marks[0].Points)-1]
		v.Summary = fmt.Sprintf("%s by percentile, rising to %s at %s", v.Marks[0].Name,
			format.Micros(last.Y), format.Percentile(1-1/last.X))
	}
	return v.divide(names, func(name string) []string {
		if name == names[0] {
			return nil
		}
		return names[:1]
	})
}

const alike = 1.02 // by which lines differ that cannot be told apart

// once are the spectra that are shown; those that coincide are one, which has the names of all.
func once(all []payload.Spectrum) (some []payload.Spectrum) {
	for _, s := range all {
		if !slices.Contains(shownSpectra, s.Of) || len(s.Points) == 0 {
			continue
		}
		i := slices.IndexFunc(some, func(o payload.Spectrum) bool {
			return slices.EqualFunc(o.Points, s.Points, func(a, b [2]float64) bool {
				return max(a[1], b[1]) <= alike*min(a[1], b[1])
			})
		})
		if i < 0 {
			some = append(some, s)
		} else {
			some[i].Name += " = " + s.Name
		}
	}
	return some
}

func spectrumWhy(p payload.Run) string {
	for _, s := range p.Spectra {
		if s.Of == "latency" && s.Why != "" {
			return s.Why
		}
	}
	return "nothing completed"
}

// heatView is latency over time: how many requests took how long, under lines of percentiles.
func heatView(over []interval, unanswered string) View {
	v := timeView("heat", "Latency over time",
		"latency over time; colour: requests (both logarithmic)", over)
	v.Section = first
	if unanswered != "" {
		v.Foot = append(v.Foot, unanswered)
	}
	lines := []struct {
		name string
		of   func(*result.Point) float64
	}{{"p50", func(p *result.Point) float64 { return p.P50 }},
		{"p99", func(p *result.Point) float64 { return p.P99 }},
		{"max", func(p *result.Point) float64 { return p.Max }}}
	boxes, values, top := heatBoxes(over)
	v.Marks = append(v.Marks, boxes...)
	timed := false
	for _, l := range lines {
		points := steps(over, func(p *result.Point) float64 {
			if y := l.of(p); p.Completed > 0 && y > 0 {
				timed = true
				return y
			}
			return math.NaN()
		})
		for _, p := range points {
			values = append(values, p.Y)
		}
		m := percentileLine(l.name, points)
		m.Kind = Steps
		v.Marks = append(v.Marks,
			Mark{Kind: Steps, Points: points, Ink: "paper", Width: 4.5, Alpha: 0.75}, m)
		v.Legend = append(v.Legend, Key{Name: l.name, Ink: m.Ink, Dash: m.Dash})
	}
	if !timed {
		v.Empty = cmp.Or(v.Empty, "Nothing completed in any whole interval.")
	}
	if len(boxes) == 0 && timed {
		v.Foot = append(v.Foot, "this result has no heat map (an older dyno wrote it): percentiles only")
	}
	if len(boxes) > 0 {
		for _, s := range []int{0, 4, 8} {
			n := int64(math.Round(max(1, math.Pow(top, float64(s)/(heatSteps-1)))))
			name := format.Count(n)
			if s == 8 {
				name += " requests"
			}
			v.Legend = append(v.Legend, Key{Name: name, Ink: fmt.Sprintf("h%d", s), Kind: Rect})
		}
	}
	v.Y = timeAxis(values, "latency")
	v.Summary = fmt.Sprintf("Latency over time, between %s and %s", format.Micros(v.Y.Low),
		format.Micros(v.Y.High))
	return v
}

// percentiles are the colours of percentiles, which stand out against the shades of a heat map.
var percentiles = []struct{ name, ink string }{{"p50", "c2"}, {"p99", "c4"}, {"max", "c7"}}

// percentileLine is the line of a percentile, with one colour and one dash in every view.
func percentileLine(name string, points []Point) Mark {
	m := styled(0, name, points)
	for i, p := range percentiles {
		if p.name == name {
			m.Ink, m.Dash = p.ink, i
		}
	}
	return m
}

const (
	heatSteps   = 9
	heatColumns = 200 // that a picture has room for
)

// heatBoxes are the counts by time and latency, a mark for each shade, with the values that they
// reach and the largest count. Many seconds are put together.
func heatBoxes(over []interval) (marks []Mark, values []float64, top float64) {
	type box struct {
		from, to float64
		bucket   int64
		n        int64
	}
	var all []box
	together := max(1, (len(over)+heatColumns-1)/heatColumns)
	for group := range slices.Chunk(over, together) {
		counts := map[int64]int64{}
		for _, v := range group {
			for _, h := range v.point.Heat {
				counts[h[0]] += h[1]
			}
		}
		for _, bucket := range slices.Sorted(maps.Keys(counts)) {
			all = append(all, box{group[0].from, group[len(group)-1].point.T, bucket, counts[bucket]})
		}
	}
	top = 1
	for _, b := range all {
		top = max(top, float64(b.n))
	}
	byShade := make([]Mark, heatSteps)
	last := map[[2]int64]int{} // of each shade of a bucket, the last corner
	for _, b := range all {
		shade := heatSteps - 1
		if top > 1 {
			shade = int(math.Round(math.Log(float64(b.n)) / math.Log(top) * (heatSteps - 1)))
		}
		low, high := bucketBound(b.bucket), bucketBound(b.bucket+1)
		values = append(values, low, high)
		m, key := &byShade[shade], [2]int64{int64(shade), b.bucket}
		if at, had := last[key]; had && m.Points[at].X == b.from {
			m.Points[at].X = b.to // it goes on: one box
			continue
		}
		m.Points = append(m.Points, Point{X: b.from, Y: low}, Point{X: b.to, Y: high})
		last[key] = len(m.Points) - 1
	}
	for shade, m := range byShade {
		if len(m.Points) > 0 {
			m.Kind, m.Ink, m.Name = Rect, fmt.Sprintf("h%d", shade), "heat"
			marks = append(marks, m)
		}
	}
	return marks, values, top
}

// bucketBound is where a bucket of a heat map begins, in µs.
func bucketBound(bucket int64) float64 { return metric.HeatBucketStart(bucket) / 1e3 }
