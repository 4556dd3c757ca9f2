package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"dyno/internal/result"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/textplot"
)

// runPlots are what a report has besides when it is to be verbose: the whole of the distribution,
// and latency over time.
func runPlots(r *result.Result) ([]document.Part, error) {
	spectrum, err := spectrumPart(r)
	return []document.Part{spectrum, heatMap(r)}, err
}

// mostNines is how far a spectrum goes: to p99.99999.
const mostNines = 7

// spectrumPart draws latency, and where it differs service time, by percentile: each
// factor of ten in the share of what is slower has the same width. It goes as far
// as at least one value is beyond.
func spectrumPart(r *result.Result) (none document.Part, err error) {
	if r.Latency == nil || r.Latency.Count < 100 {
		return none, nil
	}
	nines := min(len(strconv.FormatInt(r.Latency.Count, 10))-1, mostNines)
	p := textplot.Plot{Log: true, X: percentileName, Y: format.Micros, YName: "latency ●"}
	for i := range nines + 1 {
		p.Marks = append(p.Marks, math.Pow10(i))
	}
	curves := []struct {
		of *result.Distribution
		as rune
	}{{r.Service, '○'}, {r.Latency, '●'}}
	if !r.SentLater() {
		curves = curves[1:]
	} else {
		p.YName += "  service ○"
	}
	for _, c := range curves {
		if c.of == nil {
			continue
		}
		qs := make([]float64, textplot.Width)
		for i := range qs {
			qs[i] = 1 - math.Pow(10, -float64(nines*i)/(textplot.Width-1))
		}
		values, over, err := c.of.Quantiles(qs)
		if err != nil {
			return none, err
		}
		for i, v := range values {
			if over[i] {
				break // and above it nothing is known
			}
			x := math.Pow(10, float64(nines*i)/(textplot.Width-1))
			p.Points = append(p.Points, textplot.Point{X: x, Y: v, As: c.as})
		}
	}
	return document.Part{Head: "Latency by percentile", Plot: p.Lines()}, nil
}

// percentileName names the one that one value in so many exceeds.
func percentileName(oneIn float64) string {
	digits := max(int(math.Ceil(math.Log10(oneIn)-1e-9))-2, 0)
	return "p" + strconv.FormatFloat(100-100/oneIn, 'f', digits, 64)
}

// heatRows is how many rows a strip has at most.
const heatRows = 16

// shades say what share of a column's answers a field has, at least.
var shades = []struct {
	share float64
	as    rune
}{{0.25, '█'}, {0.05, '▓'}, {0.01, '▒'}, {0, '░'}}

// heatMap draws latency over time: a column has the answers of one second or a few, a row those of
// like latency.
func heatMap(r *result.Result) (p document.Part) {
	series := r.Series
	if n := len(series); n > 0 && series[n-1].T > r.Window.MeasuredS && series[n-1].Completed == 0 {
		series = series[:n-1] // what came after the window, when nothing did
	}
	low, high, seen := heatSpan(series)
	if !seen || len(series) < 2 {
		return p
	}
	each := (len(series) + textplot.Width - 1) / textplot.Width
	columns := make([]result.Point, (len(series)+each-1)/each)
	for i, one := range series {
		columns[i/each].Heat = columns[i/each].Heat.Plus(one.Heat)
	}
	step := int64(1)
	for floorTo(high, step)-floorTo(low, step) >= heatRows*step {
		step *= 2
	}
	low, high = floorTo(low, step), floorTo(high, step)
	p.Head = fmt.Sprintf("Latency over time, a column for %s: █ 25 %% of its answers or more, "+
		"▓ 5 %%, ▒ 1 %%, ░ fewer", format.Plural(int64(each), "second"))
	add := func(label, text string) {
		p.Plot = append(p.Plot, fmt.Sprintf("%*s %s", heatLabel, label, strings.TrimRight(text, " ")))
	}
	for row := high; row >= low; row -= step {
		line := "┤"
		for _, c := range columns {
			line += string(shadeOf(c.Heat, row, step))
		}
		add(heatRowLabel(row, step, low), line)
	}
	add("", "└"+strings.Repeat("─", len(columns)))
	end := format.Seconds(series[len(series)-1].T)
	add("", fmt.Sprintf(" 0 s%*s", max(len(columns)-len("0 s"), utf8.RuneCountInString(end)+1), end))
	if text := unansweredText(r); text != "" {
		p.Plot = append(p.Plot, text)
	}
	return p
}

// heatLabel is how wide the latency of a row is written.
const heatLabel = 7

// heatRowLabel names a row: the power of ten that is in it or, of the lowest, where it begins.
func heatRowLabel(row, step, lowest int64) string {
	power := floorTo(row+step-1, 8)
	switch {
	case power >= row:
		return format.Micros(math.Pow(10, float64(power)/8))
	case row == lowest:
		return format.Micros(math.Pow(10, float64(row)/8))
	}
	return ""
}

// floorTo is the largest multiple of step that is not above i.
func floorTo(i, step int64) int64 { return i - (i%step+step)%step }

// heatSpan is the lowest and the highest bucket that anything is in.
func heatSpan(series []result.Point) (low, high int64, seen bool) {
	for _, p := range series {
		for _, b := range p.Heat {
			if !seen {
				low, high, seen = b[0], b[0], true
			}
			low, high = min(low, b[0]), max(high, b[0])
		}
	}
	return low, high, seen
}

// shadeOf is how much of a column is in the step buckets from a row on.
func shadeOf(column [][2]int64, row, step int64) rune {
	var here, all int64
	for _, b := range column {
		all += b[1]
		if b[0] >= row && b[0] < row+step {
			here += b[1]
		}
	}
	if here == 0 {
		return ' '
	}
	for _, s := range shades {
		if float64(here) >= s.share*float64(all) {
			return s.as
		}
	}
	return ' '
}
