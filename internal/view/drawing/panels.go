package drawing

import (
	"math"

	"dyno/internal/view/chart"
)

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
func (s *sheet) drawPanels(all []chart.Panel) {
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
		title := s.clip(s.faces.bold, textSmall, p.Title, each/widerFont)
		s.write(true, textSmall, "ink", left, top+textSmall, 0, title)
		s.drawPlot(chart.View{X: p.X, Y: p.Y, Marks: p.Marks})
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
		s.write(false, textSmall, "ink", left+side, y+4, 0, text)
	}
}
