package chart

import (
	"math"

	"dyno/internal/view/format"
)

// This file has what is drawn beside one another: small plots of one line each, where one plot
// would have too many lines to be read, as web/src/multiples.ts of the page.

// divide gives each of the names a small plot of its own, if there are more than one plot can have,
// with the marks of those that beside names, too. A mark of a view that is divided says what it is
// Of. The plots have the same scales.
func (v View) divide(names []string, beside func(string) []string) View {
	if len(names) <= linesMax || v.Empty != "" {
		return v
	}
	base := map[string]bool{}
	for _, name := range names {
		for _, other := range beside(name) {
			base[other] = true
		}
	}
	x, y := v.X, v.Y
	y.Label = ""
	for _, name := range names {
		if base[name] {
			continue
		}
		shown := map[string]bool{"": true, name: true}
		for _, other := range beside(name) {
			shown[other] = true
		}
		p := Panel{Title: format.PlainLine(name), X: x, Y: y}
		for _, m := range v.Marks {
			if shown[m.Of] {
				p.Marks = append(p.Marks, m)
			}
		}
		v.Panels = append(v.Panels, p)
	}
	v.Marks = nil
	return v
}

// alone is beside of names that stand alone.
func alone(string) []string { return nil }

// of says of marks what they belong to.
func of(name string, marks ...Mark) []Mark {
	for i := range marks {
		marks[i].Of = name
	}
	return marks
}

// Sizes of small plots in px.
const (
	panelLeast = 240.0
	panelField = 130.0
	panelTall  = panelField + (1+2)*textSmall*leading + 2*gap // with its title and two lines below
)

// panelColumns is how many small plots stand beside one another.
func (s *sheet) panelColumns(n int) int {
	return max(1, min(n, int((s.width-2*edge+gap)/(panelLeast+gap))))
}

// panelsHeight is how high the field of all is. What stands below the field of another view stands
// within it.
func (s *sheet) panelsHeight(n int) float64 {
	columns := s.panelColumns(n)
	return math.Ceil(float64(n)/float64(columns))*panelTall - 2*textSmall*leading
}

// drawPanels draws small plots, row by row.
func (s *sheet) drawPanels(all []Panel) {
	whole := *s
	columns := s.panelColumns(len(all))
	each := (s.width - 2*edge - gap*float64(columns-1)) / float64(columns)
	labels := 0.0
	for _, p := range all {
		labels = max(labels, s.labelsWidth(p.Y))
	}
	for i, p := range all {
		left := edge + float64(i%columns)*(each+gap)
		top := whole.top + float64(i/columns)*panelTall
		s.left, s.right = left+labels+gap, left+each-gap
		s.top = top + textSmall*leading + gap
		s.bottom = s.top + panelField
		title := s.clip(s.faces.bold, textSmall, p.Title, each)
		s.write(s.faces.bold, textSmall, "ink", left, top+textSmall, 0, title)
		s.drawPlot(View{X: p.X, Y: p.Y, Marks: p.Marks})
	}
	s.left, s.right, s.top, s.bottom = whole.left, whole.right, whole.top, whole.bottom
}

// narrowest is how many px a text needs at least.
const narrowest = 24.0

// writeWithin writes as much of a text as has room from left to right, its middle at y.
func (s *sheet) writeWithin(text string, left, right, y float64) {
	const side = 3
	if right-left < narrowest {
		return
	}
	text = s.clip(s.faces.regular, textSmall, text, (right-left-2*side)/widerFont)
	if len([]rune(text)) > 2 {
		s.write(s.faces.regular, textSmall, "ink", left+side, y+4, 0, text)
	}
}
