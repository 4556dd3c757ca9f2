package labreport

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// Measures of a forest plot, in px.
const (
	forestRow     = 22
	forestPlot    = 380 // width of the field
	forestLetter  = 6.6 // width of a character, about
	forestMargin  = 12
	forestLongest = 44 // characters of a label
	forestVerdict = 210
)

// A forest is ratios on a logarithmic axis, one below the other.
type forest struct {
	d          *format.Document
	low, high  float64
	left, y    float64 // of the field; of the row that is next
	head, foot float64 // y of the field's ends
}

// Forest draws the ratios of an experiment's verdicts as SVG: a point with its
// 95 % interval for each comparison, by level and measure, the baseline against
// itself first, over the band of what does not matter. Nothing is drawn, and drawn
// is false, if nothing was compared.
func Forest(w io.Writer, r *lab.Record) (drawn bool, err error) {
	if len(r.Verdicts) == 0 {
		return false, nil
	}
	f := forest{d: format.NewDocument(w), low: 1, high: 1}
	longest, rows := 0, 0
	for i, c := range r.Verdicts {
		longest = max(longest, utf8.RuneCountInString(forestLabel(c)))
		if rows++; i == 0 || groupName(c) != groupName(r.Verdicts[i-1]) {
			rows++
		}
		f.widenTo(c)
	}
	f.low, f.high = f.low/1.03, f.high*1.03
	f.left = forestMargin + float64(longest)*forestLetter + 14
	f.head = 2*forestMargin + 8
	f.foot = f.head + float64(rows)*forestRow + 4
	f.y = f.head
	f.beginPicture(f.left+forestPlot+forestVerdict, f.foot+3*forestRow, titleText(r))
	f.drawAxis(r.Verdicts[0].Margin)
	findings := labanswer.Findings(r)
	for i, c := range r.Verdicts {
		if i == 0 || groupName(c) != groupName(r.Verdicts[i-1]) {
			f.drawText(forestMargin, "h", "start", groupName(c))
			f.y += forestRow
		}
		f.drawRow(c, findings[i])
	}
	fmt.Fprint(f.d, "</svg>\n")
	return true, f.d.Err()
}

func groupName(c lab.Comparison) string {
	if c.Level == "" {
		return c.Metric
	}
	return c.Metric + " at " + format.Clip(format.PlainLine(c.Level), forestLongest)
}

func forestLabel(c lab.Comparison) string {
	s := format.Clip(format.PlainLine(c.Variant), forestLongest)
	if c.Control {
		s += " (A/A)"
	}
	return s
}

// widenTo widens the axis for a comparison. Of an interval that runs far beyond all
// estimates, an end is not drawn.
func (f *forest) widenTo(c lab.Comparison) {
	const beyond = 4
	ends := []float64{c.Ratio, 1 + c.Margin, 1 / (1 + c.Margin)}
	if c.HasInterval() {
		ends = append(ends, max(c.Low, c.Ratio/beyond), min(c.High, c.Ratio*beyond))
	}
	for _, v := range ends {
		if v > 0 && !math.IsInf(v, 0) {
			f.low, f.high = min(f.low, v), max(f.high, v)
		}
	}
}

// xOf is where a ratio is.
func (f *forest) xOf(ratio float64) float64 {
	at := math.Log(min(max(ratio, f.low), f.high)/f.low) / math.Log(f.high/f.low)
	return f.left + at*forestPlot
}

func (f *forest) beginPicture(width, height float64, about string) {
	fmt.Fprintf(f.d, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" `+
		`viewBox="0 0 %.0f %.0f" role="img" font-family="system-ui, sans-serif" font-size="12">`+"\n",
		width, height, width, height)
	fmt.Fprintf(f.d, "<title>%s: ratios to the baseline with 95 %% intervals</title>\n",
		html.EscapeString(about))
	// Seen in a page through img, it has no colours but its own.
	fmt.Fprint(f.d, `<style>text{fill:#24292f}.h{font-weight:600}.q{fill:#57606a}`+
		`.l{stroke:#57606a}.one{stroke:#24292f}.band{fill:#57606a;opacity:.12}`+
		`.worse{stroke:#d55e00;fill:#d55e00}.better{stroke:#0072b2;fill:#0072b2}`+
		`.open{stroke:#57606a;fill:#57606a}`+
		`@media(prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#9198a1}.l{stroke:#9198a1}`+
		`.one{stroke:#e6edf3}.band{fill:#9198a1}.open{stroke:#9198a1;fill:#9198a1}`+
		`.better{stroke:#56b4e9;fill:#56b4e9}.worse{stroke:#ff9a4d;fill:#ff9a4d}}</style>`+"\n")
}

// ratioMarks are the ratios that an axis may be marked at, the first before all others.
var ratioMarks = []float64{1, 0.5, 2, 0.1, 10, 0.8, 1.25, 0.9, 1.1, 0.2, 5, 0.95, 1.05, 0.01,
	100, 0.67, 1.5, 0.98, 1.02, 0.85, 1.15, 0.75, 1.33, 0.99, 1.01}

// drawAxis draws the band of the margin, and the ratios below it.
func (f *forest) drawAxis(margin float64) {
	left, right := f.xOf(1/(1+margin)), f.xOf(1+margin)
	fmt.Fprintf(f.d, `<rect class="band" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`+"\n", left,
		f.head, right-left, f.foot-f.head)
	var taken []float64
	for _, v := range ratioMarks {
		x := f.xOf(v)
		free := v >= f.low && v <= f.high
		for _, other := range taken {
			free = free && math.Abs(x-other) > 38
		}
		if !free {
			continue
		}
		taken = append(taken, x)
		class, bottom := "l", f.head
		if v == 1 {
			class = "one"
		} else {
			bottom = f.foot - 4
		}
		f.drawLine(class, x, bottom, x, f.foot)
		f.drawLabel(x, f.foot+14, "q", "middle", format.SignificantDigits(v, 3))
	}
	f.drawLabel(f.left+forestPlot/2, f.foot+34, "q", "middle", fmt.Sprintf("ratio to the baseline, "+
		"95 %% interval; within the band (%s) it does not matter", format.InPercent(margin)))
}

// drawRow draws a comparison. Colour is not all that tells: a filled square is a
// verdict, an empty circle is none, and the verdict is written.
func (f *forest) drawRow(c lab.Comparison, found answer.Finding) {
	class := "open"
	if found.IsDecided() {
		class = string(found.Verdict)
	}
	f.drawText(f.left-10, "", "end", forestLabel(c))
	x, y := f.xOf(c.Ratio), f.y+forestRow/2
	if c.HasInterval() {
		f.drawLine(class, f.xOf(c.Low), y, f.xOf(c.High), y)
	}
	if !found.IsSettled() {
		fmt.Fprintf(f.d, `<circle class="%s" cx="%.1f" cy="%.1f" r="4" fill-opacity="0"/>`+"\n",
			class, x, y)
	} else {
		fmt.Fprintf(f.d, `<rect class="%s" x="%.1f" y="%.1f" width="8" height="8"/>`+"\n", class,
			x-4, y-4)
	}
	f.drawText(f.left+forestPlot+14, "", "start", comparisonRatio(c)+" "+found.Words())
	f.y += forestRow
}

func (f *forest) drawLine(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(f.d, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke-width="1.5"/>`+
		"\n", class, x1, y1, x2, y2)
}

// drawText writes in the row that is next.
func (f *forest) drawText(x float64, class, anchor, s string) {
	f.drawLabel(x, f.y+forestRow/2+4, class, anchor, s)
}

func (f *forest) drawLabel(x, y float64, class, anchor, s string) {
	fmt.Fprintf(f.d, `<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", class, x, y,
		anchor, html.EscapeString(strings.TrimSpace(s)))
}
