package chart

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
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
	Width int // px, from 320 to 4,000; a PNG has two pixels for each. The height follows.
}

// The widths of a picture, in px.
const (
	LeastWidth   = 320
	MostWidth    = 4000
	DefaultWidth = 840
)

const (
	density = 2 // pixels of a PNG for each px
	dpi     = 72
)

// Write draws a view. It is an error if the view is empty.
func Write(w io.Writer, v View, o Options) error {
	if v.Empty != "" {
		return errors.New(v.Empty)
	}
	faces, err := readFaces()
	if err != nil {
		return err
	}
	s := &sheet{faces: faces, dark: o.Dark, width: float64(o.Width)}
	s.layOut(v)
	width, height := vg.Length(s.width), vg.Length(s.height)
	if o.Form == PNG {
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi*density),
			vgimg.UseBackgroundColor(s.ink("paper", 1)))
		s.draw(c, v)
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	}
	c := vgsvg.New(width, height)
	s.draw(c, v)
	var text bytes.Buffer
	if _, err := c.WriteTo(&text); err != nil {
		return err
	}
	_, err = io.WriteString(w, asPage(text.String(), v.Title+": "+v.Unit))
	return err
}

// asPage gives an SVG sizes in px, fonts that every reader has, and a title for those who do not
// see it.
func asPage(svg, title string) string {
	head, body, _ := strings.Cut(svg, ">\n<g")
	_, head, _ = strings.Cut(head, "-->\n")
	head = strings.ReplaceAll(head, `pt"`, `"`)
	body = strings.ReplaceAll(body, "font-family:"+fontName+";font-variant:normal;",
		"font-family:'"+fontName+"',Arial,Helvetica,sans-serif;")
	return head + "\n\trole=\"img\">\n<title>" + html.EscapeString(title) + "</title>\n<g" + body
}

// A sheet is a picture while it is drawn. Places are in px from the left and from the top.
type sheet struct {
	vg.Canvas
	faces         faces
	dark          bool
	width, height float64

	title, about, foot []string // in lines
	legend             [][]Key  // in lines

	left, right, top, bottom float64 // of the field
	row                      float64 // height of a row
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
func (s *sheet) layOut(v View) {
	room := (s.width - 2*edge) / widerFont
	s.title = s.wrap(s.faces.bold, textTitle, v.Title, room, 3)
	s.about = s.wrap(s.faces.regular, textSmall, v.About, room, 3)
	s.about = append(s.about, s.wrap(s.faces.regular, textSmall, v.Unit, room, 2)...)
	s.foot = s.wrap(s.faces.regular, textSmall, joined(" · ", v.Foot...), room, 4)
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
			says = max(says, s.measure(s.faces.regular, textSmall, r.Says))
		}
		s.left += min(labels*widerFont, room*0.32) + gap
		s.right -= min(says*widerFont, room*0.42) + gap
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
func (s *sheet) labelsWidth(y Axis) (width float64) {
	for _, t := range y.Ticks {
		width = max(width, s.measure(s.faces.regular, textSmall, y.Text(t)))
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
		if longer := joined(" ", line, word); line == "" || s.measure(f, size, longer) <= room {
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
func (s *sheet) legendLines(all []Key, room float64) (lines [][]Key) {
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

func (s *sheet) keySize(k Key) float64 {
	return keyWidth + gap/2 + widerFont*s.measure(s.faces.regular, textSmall, k.Name) + 1.5*gap
}

// ink is a colour of the style sheet.
func (s *sheet) ink(name string, alpha float64) color.Color {
	c := inks[cmp.Or(name, "ink")]
	rgb := c.light
	if s.dark {
		rgb = c.dark
	}
	return color.NRGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb),
		A: uint8(math.Round(255 * alpha))}
}

// draw draws everything.
func (s *sheet) draw(c vg.Canvas, v View) {
	s.Canvas = c
	s.fill("paper", 1, s.corners(0, 0, s.width, s.height))
	y := edge
	for _, line := range s.title {
		y += textTitle * leading
		s.write(s.faces.bold, textTitle, "ink", edge, y-6, 0, line)
	}
	y += gap / 2
	for _, line := range s.about {
		y += textSmall * leading
		s.write(s.faces.regular, textSmall, "faint", edge, y-4, 0, line)
	}
	for _, line := range s.legend {
		y += textSmall * leading
		s.drawKeys(line, y)
	}
	if len(v.Rows) > 0 {
		v.Y = Axis{Low: float64(len(v.Rows)) - 0.5, High: -0.5}
	}
	if len(v.Panels) > 0 {
		s.drawPanels(v.Panels)
	} else {
		s.drawPlot(v)
	}
	y = s.bottom + 2*textSmall*leading + gap
	for _, line := range s.foot {
		y += textSmall * leading
		s.write(s.faces.regular, textSmall, "faint", edge, y-4, 0, line)
	}
}

// drawPlot draws the field of a view: axes, marks and rows.
func (s *sheet) drawPlot(v View) {
	s.drawAxes(v)
	for _, m := range v.Marks {
		s.drawMark(v, m)
	}
	s.drawRows(v.Rows)
}

// drawKeys draws a line of the legend, whose texts stand on y.
func (s *sheet) drawKeys(all []Key, y float64) {
	x := edge
	for _, k := range all {
		middle := y - 8
		switch k.Kind {
		case Rect:
			s.fill(k.Ink, 1, s.corners(x, middle-5, x+keyWidth-8, middle+5))
		case Dot:
			s.dot(k.Shape, k.Ink, 1, x+keyWidth/2, middle, 4)
		default:
			s.stroke(k.Ink, 1, 2, k.Dash, [][2]float64{{x, middle}, {x + keyWidth, middle}})
		}
		s.write(s.faces.regular, textSmall, "ink", x+keyWidth+gap/2, y-4, 0, k.Name)
		x += s.keySize(k)
	}
}

// drawAxes draws the grid, the ticks and the labels of the axes.
func (s *sheet) drawAxes(v View) {
	small := s.faces.regular
	last := math.Inf(-1)
	for _, t := range v.X.Ticks {
		x, text := s.x(v.X, t), v.X.Text(t)
		s.stroke("line", 1, 1, 0, [][2]float64{{x, s.top}, {x, s.bottom}})
		if half := s.measure(small, textSmall, text) / 2; x-half > last+4 {
			s.write(small, textSmall, "ink", x, s.bottom+textSmall*leading, 0.5, text)
			last = x + half
		}
	}
	s.write(small, textSmall, "faint", s.right, s.bottom+2*textSmall*leading+2, 1, v.X.Label+" →")
	if len(v.Rows) > 0 {
		return
	}
	for _, t := range v.Y.Ticks {
		y := s.y(v.Y, t)
		s.stroke("line", 1, 1, 0, [][2]float64{{s.left, y}, {s.right, y}})
		s.write(small, textSmall, "ink", s.left-gap, y+4, 1, v.Y.Text(t))
	}
	if v.Y.Label != "" {
		s.write(small, textSmall, "faint", edge, s.top-gap, 0, "↑ "+v.Y.Label)
	}
}

// drawRows writes what is at the sides of rows.
func (s *sheet) drawRows(all []Row) {
	for i, r := range all {
		y := s.top + (float64(i)+0.5)*s.row + 4
		if r.Head {
			s.write(s.faces.bold, textSmall, "ink", edge, y, 0, s.clip(s.faces.bold, textSmall, r.Label,
				s.right-edge))
			continue
		}
		label := s.clip(s.faces.regular, textSmall, r.Label, s.left-edge-gap)
		s.write(s.faces.regular, textSmall, "ink", edge, y, 0, label)
		says := s.clip(s.faces.regular, textSmall, r.Says, s.width-edge-s.right-gap)
		s.write(s.faces.regular, textSmall, cmp.Or(r.Ink, "ink"), s.right+gap, y, 0, says)
	}
}

func (s *sheet) x(a Axis, v float64) float64 { return s.left + a.at(v)*(s.right-s.left) }

func (s *sheet) y(a Axis, v float64) float64 { return s.bottom - a.at(v)*(s.bottom-s.top) }

// drawMark draws a mark of a view.
func (s *sheet) drawMark(v View, m Mark) {
	alpha := cmp.Or(m.Alpha, 1)
	at := func(p Point) [2]float64 { return [2]float64{s.x(v.X, p.X), s.y(v.Y, p.Y)} }
	switch m.Kind {
	case Rect:
		for i := 0; i+1 < len(m.Points); i += 2 {
			a, b := at(m.Points[i]), at(m.Points[i+1])
			s.fill(m.Ink, alpha, s.corners(a[0], a[1], b[0], b[1]))
		}
	case Dot:
		for _, p := range m.Points {
			place := at(p)
			s.dot(m.Shape, m.Ink, alpha, place[0], place[1], m.Width)
		}
	case Text:
		for _, p := range m.Points {
			s.label(m, at(p))
		}
	case Area:
		var path [][2]float64
		for _, p := range m.Points {
			path = append(path, at(p))
		}
		for i := len(m.Points) - 1; i >= 0; i-- {
			path = append(path, at(Point{X: m.Points[i].X, Y: m.Points[i].Low}))
		}
		s.fill(m.Ink, alpha, path)
	case Caption:
		a, b := at(m.Points[0]), at(m.Points[1])
		s.writeWithin(m.Name, a[0], b[0], (a[1]+b[1])/2)
	default:
		var path [][2]float64
		for _, p := range m.Points {
			if math.IsNaN(p.X) || math.IsNaN(p.Y) {
				s.stroke(m.Ink, alpha, m.Width, m.Dash, path)
				path = nil
				continue
			}
			path = append(path, at(p))
		}
		s.stroke(m.Ink, alpha, m.Width, m.Dash, path)
	}
}

// label writes the name of a mark beside a place, as much of it as has room in the field.
func (s *sheet) label(m Mark, place [2]float64) {
	x, room, before := place[0]+gap, s.right-place[0]-gap, 0.0
	if m.Left {
		x, room, before = place[0]-gap, place[0]-gap-s.left, 1
	}
	text := s.clip(s.faces.regular, textSmall, m.Name, room/widerFont)
	s.write(s.faces.regular, textSmall, m.Ink, x, place[1]+4, before, text)
}

// dashes are those of lines in the page, web/src/chart.ts.
var dashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {1, 3}, {12, 3}, {4, 2, 1, 2, 1, 2},
	{10, 2, 4, 2}}

// path is points of the sheet on the canvas, which has its origin at the bottom.
func (s *sheet) path(points [][2]float64) (p vg.Path) {
	for i, at := range points {
		place := vg.Point{X: vg.Length(at[0]), Y: vg.Length(s.height - at[1])}
		if i == 0 {
			p.Move(place)
		} else {
			p.Line(place)
		}
	}
	return p
}

func (s *sheet) corners(x1, y1, x2, y2 float64) [][2]float64 {
	return [][2]float64{{x1, y1}, {x2, y1}, {x2, y2}, {x1, y2}}
}

func (s *sheet) fill(ink string, alpha float64, points [][2]float64) {
	if len(points) < 3 {
		return
	}
	p := s.path(points)
	p.Close()
	s.SetColor(s.ink(ink, alpha))
	s.Fill(p)
}

func (s *sheet) stroke(ink string, alpha, width float64, dash int, points [][2]float64) {
	if len(points) < 2 {
		return
	}
	s.SetColor(s.ink(ink, alpha))
	s.SetLineWidth(vg.Length(width))
	s.SetLineDash(dashes[dash%len(dashes)], 0)
	s.Stroke(s.path(points))
	s.SetLineDash(nil, 0)
}

// dot draws a shape of that radius.
func (s *sheet) dot(shape Shape, ink string, alpha, x, y, r float64) {
	corners := func(n int, turn float64) (all [][2]float64) {
		for k := range n {
			angle := turn + 2*math.Pi*float64(k)/float64(n)
			all = append(all, [2]float64{x + r*math.Sin(angle), y - r*math.Cos(angle)})
		}
		return all
	}
	switch shape {
	case Square:
		s.fill(ink, alpha, corners(4, math.Pi/4))
	case Diamond:
		s.fill(ink, alpha, corners(4, 0))
	case Triangle:
		s.fill(ink, alpha, corners(3, 0))
	case Cross:
		s.stroke(ink, alpha, 2, 0, [][2]float64{{x - r, y - r}, {x + r, y + r}})
		s.stroke(ink, alpha, 2, 0, [][2]float64{{x - r, y + r}, {x + r, y - r}})
	case Ring:
		s.disc("paper", 1, x, y, r+0.8)
		s.ring(ink, alpha, x, y, r)
	default:
		s.disc(ink, alpha, x, y, r)
	}
}

func (s *sheet) arc(x, y, r float64) (p vg.Path) {
	centre := vg.Point{X: vg.Length(x), Y: vg.Length(s.height - y)}
	p.Move(vg.Point{X: centre.X + vg.Length(r), Y: centre.Y})
	p.Arc(centre, vg.Length(r), 0, 2*math.Pi)
	p.Close()
	return p
}

func (s *sheet) disc(ink string, alpha, x, y, r float64) {
	s.SetColor(s.ink(ink, alpha))
	s.Fill(s.arc(x, y, r))
}

func (s *sheet) ring(ink string, alpha, x, y, r float64) {
	s.SetColor(s.ink(ink, alpha))
	s.SetLineWidth(1.8)
	s.Stroke(s.arc(x, y, r))
}

// write writes a text whose share before x is so much: 0 begins there, 1 ends there.
func (s *sheet) write(f font.Face, size float64, ink string, x, y, before float64, text string) {
	if text == "" {
		return
	}
	s.SetColor(s.ink(ink, 1))
	x -= before * s.measure(f, size, text)
	s.FillString(sized(f, size), vg.Point{X: vg.Length(x), Y: vg.Length(s.height - y)}, text)
}

// fontName is the face whose widths are measured, and which a PNG has.
const fontName = "Liberation Sans"

// String names a form with the ending of its files.
func (f Form) String() string { return fmt.Sprintf(".%s", string(f)) }
