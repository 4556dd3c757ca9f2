// Package drawing draws a chart.View as SVG or PNG, without a browser.
//
// An SVG is written here, because it stands in the page, too, whose policy allows no styles; a PNG
// is drawn on gonum's canvas (gonum.org/v1/plot/vg). gonum's package plot is not used: that cannot
// draw rows with a verdict at their side. The page draws the same value with web/src/draw.ts.
//
//	draw.go     lays out a View, and draws it with a pen
//	panels.go   small plots
//	pens.go     the pens: SVG, PNG
//	theme.go    reads theme.json, which has the colours, light and dark, and the fonts
package drawing

import (
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"dyno/internal/view/chart"
)

// A Form is what a picture is written as.
type Form string

// The forms.
const (
	SVG Form = "svg"
	PNG Form = "png"
)

// Options are how a view is drawn.
type Options struct {
	Form  Form
	Dark  bool
	Both  bool // an SVG in the colours that its reader prefers; light, if it knows of none
	Paged bool // within the page: an SVG whose colours are those of its style sheet
	Width int  // px, from 320 to 4,000; a PNG has two pixels for each. The height follows.
}

// The widths of a picture, in px.
const (
	LeastWidth   = 320
	MostWidth    = 4000
	DefaultWidth = 840
)

// Write draws a view. It is an error if the view is empty.
func Write(w io.Writer, v chart.View, o Options) error {
	if v.Empty != "" {
		return errors.New(v.Empty)
	}
	faces, err := readFaces()
	if err != nil {
		return err
	}
	s := &sheet{faces: faces, width: float64(o.Width), step: 1}
	if o.Paged {
		s.step = 3 // it is seen until the page's script has run, and the page has all points
	}
	s.layOut(v)
	if o.Form == PNG {
		p := newPNG(faces, o.Dark, s.width, s.height)
		s.draw(p, v)
		return p.writeTo(w)
	}
	p := &svgPen{dark: o.Dark, paged: o.Paged, both: o.Both, inks: map[string]bool{}}
	s.draw(p, v)
	return p.writeTo(w, s.width, s.height, v.Title+": "+v.Unit)
}

// A pen draws on a picture. Places are in px from the left and from the top, and inks colours of
// the style sheet.
type pen interface {
	fill(ink string, alpha float64, shapes ...[][2]float64)
	stroke(ink string, alpha, width float64, dash []float64, points [][2]float64)
	disc(ink string, alpha, x, y, r float64)
	ring(ink string, alpha, x, y, r float64)

	// write writes a text whose share before x is so much: 0 begins there, 1 ends there.
	write(bold bool, size float64, ink string, x, y, before float64, text string)
}

// A sheet is a picture while it is drawn.
type sheet struct {
	pen
	faces         faces
	width, height float64

	title, about, foot []string      // in lines
	legend             [][]chart.Key // in lines

	left, right, top, bottom float64 // of the field
	row                      float64 // height of a row
	step                     float64 // px along a line that are drawn together
}

// Sizes in px; DESIGN.md has those of type and the steps of space.
const (
	edge      = 16.0
	textSmall = 12.0
	textBody  = 14.0
	textTitle = 20.0
	leading   = 1.35
	gap       = 8.0
	rowHeight = 26.0
	keyWidth  = 24.0

	// The reader of an SVG may have a font that is wider than the one that was measured.
	widerFont = 1.15
)

// layOut decides how large everything is.
func (s *sheet) layOut(v chart.View) {
	room := (s.width - 2*edge) / widerFont
	s.title = s.wrap(s.faces.bold, textTitle, v.Title, room, 3)
	s.about = s.wrap(s.faces.regular, textSmall, v.About, room, 3)
	s.about = append(s.about, s.wrap(s.faces.regular, textSmall, v.Unit, room, 2)...)
	s.foot = s.wrap(s.faces.regular, textSmall, strings.Join(v.Foot, " · "), room, 4)
	s.legend = s.legendLines(v.Legend, room)
	s.top = edge + float64(len(s.title))*textTitle*leading + gap/2 +
		float64(len(s.about)+len(s.legend))*textSmall*leading + 2*gap
	s.left, s.right = edge, s.width-edge-gap
	var height float64
	if len(v.Rows) > 0 {
		labels, says := 0.0, 0.0
		for _, r := range v.Rows {
			if !r.Head {
				labels = max(labels, s.measure(s.faces.regular, textSmall, r.Label))
			}
			says = max(says, s.measure(s.faces.regular, textSmall, r.Said()))
		}
		s.left += min(labels*widerFont, (s.width-2*edge)*0.34) + gap
		s.right -= min(says*widerFont, (s.width-2*edge)*0.43) + gap
		s.row = rowHeight
		height = float64(len(v.Rows)) * s.row
	} else if len(v.Panels) > 0 {
		height = s.panelsHeight(len(v.Panels))
	} else {
		s.left += s.labelsWidth(v.Y) + gap
		s.top += textSmall * leading // the label of the axis
		height = cmp.Or(v.Height, min(max(s.width*0.42, 220), 420))
	}
	s.bottom = s.top + height
	s.height = s.bottom + 2*textSmall*leading + gap + float64(len(s.foot))*textSmall*leading + edge
	s.height = math.Ceil(s.height)
}

// labelsWidth is how wide the ticks of an axis at the left are.
func (s *sheet) labelsWidth(y chart.Axis) (width float64) {
	for _, t := range y.Ticks {
		width = max(width, s.measure(s.faces.regular, textSmall, t.Text))
	}
	return width
}

func (s *sheet) measure(f font.Face, size float64, text string) float64 {
	face := sized(f, size)
	return float64(face.Width(text))
}

// sized is a face in another size.
func sized(f font.Face, size float64) font.Face {
	f.Font.Size = vg.Length(size)
	return f
}

// wrap is a text in lines of at most so many px; the last of most lines is cut.
func (s *sheet) wrap(f font.Face, size float64, text string, room float64,
	most int) (all []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		longer := strings.TrimSpace(line + " " + word)
		if line == "" || s.measure(f, size, longer) <= room {
			line = longer
			continue
		}
		if len(all) == most-1 {
			line += " …"
			break
		}
		all, line = append(all, line), word
	}
	if line == "" {
		return all
	}
	return append(all, s.clip(f, size, line, room))
}

// clip is as much of a text as has room.
func (s *sheet) clip(f font.Face, size float64, text string, room float64) string {
	if s.measure(f, size, text) <= room {
		return text
	}
	letters := []rune(text)
	for n := len(letters) - 1; n > 0; n-- {
		if cut := string(letters[:n]) + "…"; s.measure(f, size, cut) <= room {
			return cut
		}
	}
	return ""
}

// legendLines are the keys in lines.
func (s *sheet) legendLines(all []chart.Key, room float64) (lines [][]chart.Key) {
	x := room
	for _, k := range all {
		width := s.keySize(k)
		if x+width > room {
			lines, x = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], k)
		x += width
	}
	return lines
}

func (s *sheet) keySize(k chart.Key) float64 {
	return keyWidth + gap/2 + widerFont*s.measure(s.faces.regular, textSmall, k.Name) + 1.5*gap
}

// draw draws everything.
func (s *sheet) draw(p pen, v chart.View) {
	s.pen = p
	s.fill("paper", 1, s.corners(0, 0, s.width, s.height))
	y := edge
	for _, line := range s.title {
		y += textTitle * leading
		s.write(true, textTitle, "ink", edge, y-6, 0, line)
	}
	y += gap / 2
	for _, line := range s.about {
		y += textSmall * leading
		s.write(false, textSmall, "faint", edge, y-4, 0, line)
	}
	for _, line := range s.legend {
		y += textSmall * leading
		s.drawKeys(line, y)
	}
	if len(v.Rows) > 0 {
		v.Y = chart.Axis{Low: float64(len(v.Rows)) - 0.5, High: -0.5}
	}
	if len(v.Panels) > 0 {
		s.drawPanels(v.Panels)
	} else {
		s.drawPlot(v)
	}
	y = s.bottom + 2*textSmall*leading + gap
	for _, line := range s.foot {
		y += textSmall * leading
		s.write(false, textSmall, "faint", edge, y-4, 0, line)
	}
}

// drawPlot draws the field of a view: axes, marks and rows.
func (s *sheet) drawPlot(v chart.View) {
	s.drawAxes(v)
	for _, m := range v.Marks {
		s.drawMark(v, m)
	}
	s.drawRows(v.Rows)
}

// drawKeys draws a line of the legend, whose texts stand on y.
func (s *sheet) drawKeys(all []chart.Key, y float64) {
	x := edge
	for _, k := range all {
		middle := y - 8
		switch k.Kind {
		case chart.Rect:
			s.fill(k.Ink, 1, s.corners(x, middle-5, x+keyWidth-8, middle+5))
		case chart.Dot:
			s.dot(k.Shape, k.Ink, 1, x+keyWidth/2, middle, 4)
		default:
			s.stroke(k.Ink, 1, 2, dashOf(k.Dash), [][2]float64{{x, middle}, {x + keyWidth, middle}})
		}
		s.write(false, textSmall, "ink", x+keyWidth+gap/2, y-4, 0, k.Name)
		x += s.keySize(k)
	}
}

// drawAxes draws the grid, the ticks and the labels of the axes.
func (s *sheet) drawAxes(v chart.View) {
	last := math.Inf(-1)
	for _, t := range v.X.Ticks {
		x := s.x(v.X, t.At)
		s.stroke("line", 1, 1, nil, [][2]float64{{x, s.top}, {x, s.bottom}})
		if half := s.measure(s.faces.regular, textSmall, t.Text) / 2; x-half > last+4 {
			s.write(false, textSmall, "ink", x, s.bottom+textSmall*leading, 0.5, t.Text)
			last = x + half
		}
	}
	s.write(false, textSmall, "faint", s.right, s.bottom+2*textSmall*leading+2, 1, v.X.Label+" →")
	if len(v.Rows) > 0 {
		return
	}
	for _, t := range v.Y.Ticks {
		y := s.y(v.Y, t.At)
		s.stroke("line", 1, 1, nil, [][2]float64{{s.left, y}, {s.right, y}})
		s.write(false, textSmall, "ink", s.left-gap, y+4, 1, t.Text)
	}
	if v.Y.Label != "" {
		s.write(false, textSmall, "faint", edge, s.top-gap, 0, "↑ "+v.Y.Label)
	}
}

// drawRows writes what is at the sides of rows.
func (s *sheet) drawRows(all []chart.Row) {
	const rounding = 0.1 // px: a text for which the room was made has it
	clip := func(f font.Face, text string, room float64) string {
		return s.clip(f, textSmall, text, room/widerFont+rounding)
	}
	for i, r := range all {
		y := s.top + (float64(i)+0.5)*s.row + 4
		if r.Head {
			s.write(true, textSmall, "ink", edge, y, 0, clip(s.faces.bold, r.Label, s.right-edge))
			continue
		}
		s.write(false, textSmall, "ink", edge, y, 0,
			clip(s.faces.regular, r.Label, s.left-edge-gap))
		s.write(false, textSmall, cmp.Or(r.Ink, "ink"), s.right+gap, y, 0,
			clip(s.faces.regular, r.Said(), s.width-edge-s.right-gap))
	}
}

func (s *sheet) x(a chart.Axis, v float64) float64 { return s.left + a.At(v)*(s.right-s.left) }

func (s *sheet) y(a chart.Axis, v float64) float64 { return s.bottom - a.At(v)*(s.bottom-s.top) }

// drawMark draws a mark of a view.
func (s *sheet) drawMark(v chart.View, m chart.Mark) {
	alpha := cmp.Or(m.Alpha, 1)
	at := func(p chart.Point) [2]float64 { return [2]float64{s.x(v.X, p.X), s.y(v.Y, p.Y)} }
	if m.Kind == chart.Steps {
		m = corners(m)
	}
	switch m.Kind {
	case chart.Rect:
		var shapes [][][2]float64
		for i := 0; i+1 < len(m.Points); i += 2 {
			a, b := at(m.Points[i]), at(m.Points[i+1])
			shapes = append(shapes, s.corners(a[0], a[1], b[0], b[1]))
		}
		s.fill(m.Ink, alpha, shapes...)
	case chart.Dot:
		for _, p := range m.Points {
			place := at(p)
			s.dot(m.Shape, m.Ink, alpha, place[0], place[1], m.Width)
		}
	case chart.Text:
		for _, p := range m.Points {
			s.label(m, at(p))
		}
	case chart.Rule:
		for _, p := range m.Points {
			x := s.x(v.X, p.X)
			s.stroke(m.Ink, alpha, m.Width, dashOf(m.Dash), [][2]float64{{x, s.top}, {x, s.bottom}})
		}
	case chart.Area:
		var path [][2]float64
		for _, p := range m.Points {
			path = append(path, at(p))
		}
		for i := len(m.Points) - 1; i >= 0; i-- {
			path = append(path, at(chart.Point{X: m.Points[i].X, Y: m.Points[i].Low}))
		}
		s.fill(m.Ink, alpha, path)
	case chart.Caption:
		a, b := at(m.Points[0]), at(m.Points[1])
		s.writeWithin(m.Name, a[0], b[0], (a[1]+b[1])/2)
	default:
		var path [][2]float64
		for _, p := range m.Points {
			if math.IsNaN(p.X) || math.IsNaN(p.Y) {
				s.stroke(m.Ink, alpha, m.Width, dashOf(m.Dash), thinned(path, s.step))
				path = nil
				continue
			}
			path = append(path, at(p))
		}
		s.stroke(m.Ink, alpha, m.Width, dashOf(m.Dash), thinned(path, s.step))
	}
}

// thinned is a line without points that can hardly be seen: of each step of px along it the first,
// the lowest, the highest and the last.
func thinned(path [][2]float64, step float64) (kept [][2]float64) {
	for i := 0; i < len(path); {
		end, low, high := i+1, i, i
		for ; end < len(path) && math.Floor(path[end][0]/step) == math.Floor(path[i][0]/step); end++ {
			if path[end][1] < path[low][1] {
				low = end
			}
			if path[end][1] > path[high][1] {
				high = end
			}
		}
		all := []int{i, low, high, end - 1}
		slices.Sort(all)
		for _, k := range slices.Compact(all) {
			kept = append(kept, path[k])
		}
		i = end
	}
	return kept
}

// label writes the name of a mark beside a place, as much of it as has room in the field.
func (s *sheet) label(m chart.Mark, place [2]float64) {
	x, room, before := place[0]+gap, s.right-place[0]-gap, 0.0
	if m.Left {
		x, room, before = place[0]-gap, place[0]-gap-s.left, 1
	}
	text := s.clip(s.faces.regular, textSmall, m.Name, room/widerFont)
	s.write(false, textSmall, m.Ink, x, place[1]+4, before, text)
}

// corners are those of a mark of steps, as a line: NaN is a gap.
func corners(m chart.Mark) chart.Mark {
	var points []chart.Point
	for i, p := range m.Points {
		if i > 0 && p.Low > m.Points[i-1].X {
			points = append(points, chart.Point{X: p.Low, Y: math.NaN()})
		}
		points = append(points, chart.Point{X: p.Low, Y: p.Y}, chart.Point{X: p.X, Y: p.Y})
	}
	m.Kind, m.Points = chart.Line, points
	return m
}

func (s *sheet) corners(x1, y1, x2, y2 float64) [][2]float64 {
	return [][2]float64{{x1, y1}, {x2, y1}, {x2, y2}, {x1, y2}}
}

// dot draws a shape of that radius.
func (s *sheet) dot(shape chart.Shape, ink string, alpha, x, y, r float64) {
	corners := func(n int, turn float64) (all [][2]float64) {
		for k := range n {
			angle := turn + 2*math.Pi*float64(k)/float64(n)
			all = append(all, [2]float64{x + r*math.Sin(angle), y - r*math.Cos(angle)})
		}
		return all
	}
	switch shape {
	case chart.Square:
		s.fill(ink, alpha, corners(4, math.Pi/4))
	case chart.Diamond:
		s.fill(ink, alpha, corners(4, 0))
	case chart.Triangle:
		s.fill(ink, alpha, corners(3, 0))
	case chart.Cross:
		s.stroke(ink, alpha, 2, nil, [][2]float64{{x - r, y - r}, {x + r, y + r}})
		s.stroke(ink, alpha, 2, nil, [][2]float64{{x - r, y + r}, {x + r, y - r}})
	case chart.Ring:
		s.disc("paper", 1, x, y, r+0.8)
		s.ring(ink, alpha, x, y, r)
	default:
		s.disc(ink, alpha, x, y, r)
	}
}

// String names a form with the ending of its files.
func (f Form) String() string { return "." + string(f) }
