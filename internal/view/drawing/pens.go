package drawing

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// fontName is the face whose widths are measured, and which a PNG has.
const fontName = "Liberation Sans"

const ringWidth = 1.8 // px

// hexOf is a colour as #rrggbb.
func hexOf(ink string, dark bool) string {
	c := readTheme().Inks[cmp.Or(ink, "ink")]
	if dark {
		return c[1]
	}
	return c[0]
}

// An svgPen writes an SVG. All looks are attributes, because the page's policy allows no styles.
type svgPen struct {
	dark, paged, both bool
	inks              map[string]bool // that both have used
	text              strings.Builder
}

// colour is an ink as an attribute, with how much of it there is.
func (p *svgPen) colour(attribute, ink string, alpha float64) string {
	value := hexOf(ink, p.dark)
	if p.paged {
		value = "var(--" + cmp.Or(ink, "ink") + ")"
	}
	if p.both {
		p.inks[cmp.Or(ink, "ink")] = true
		value += `" class="` + cmp.Or(ink, "ink")
	}
	if alpha < 1 {
		return fmt.Sprintf(` %s="%s" %s-opacity="%s"`, attribute, value, attribute,
			strconv.FormatFloat(alpha, 'f', -1, 64))
	}
	return fmt.Sprintf(` %s="%s"`, attribute, value)
}

// px is a number in an SVG.
func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// path is a line through points: each is written as its way from the one before, which is short.
func (p *svgPen) path(points [][2]float64) string {
	var d strings.Builder
	var last [2]float64 // in tenths of a px
	for i, at := range points {
		at = [2]float64{math.Round(10 * at[0]), math.Round(10 * at[1])}
		x, y := px((at[0]-last[0])/10), px((at[1]-last[1])/10)
		switch {
		case i == 0:
			d.WriteString("M" + x + " " + y)
		case at[0] == last[0]:
			d.WriteString("v" + y)
		case at[1] == last[1]:
			d.WriteString("h" + x)
		case strings.HasPrefix(y, "-"):
			d.WriteString("l" + x + y)
		default:
			d.WriteString("l" + x + " " + y)
		}
		last = at
	}
	return d.String()
}

func (p *svgPen) fill(ink string, alpha float64, shapes ...[][2]float64) {
	var d strings.Builder
	for _, points := range shapes {
		if len(points) > 2 {
			d.WriteString(p.path(points) + "z")
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(&p.text, `<path d="%s"%s/>`+"\n", d.String(), p.colour("fill", ink, alpha))
	}
}

func (p *svgPen) stroke(ink string, alpha, width float64, dash []float64, points [][2]float64) {
	if len(points) < 2 {
		return
	}
	dashes := make([]string, len(dash))
	for i, length := range dash {
		dashes[i] = px(length)
	}
	dashed := ""
	if len(dash) > 0 {
		dashed = ` stroke-dasharray="` + strings.Join(dashes, " ") + `"`
	}
	fmt.Fprintf(&p.text, `<path d="%s" fill="none"%s stroke-width="%s"%s/>`+"\n", p.path(points),
		p.colour("stroke", ink, alpha), px(width), dashed)
}

func (p *svgPen) disc(ink string, alpha, x, y, r float64) {
	fmt.Fprintf(&p.text, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", px(x), px(y), px(r),
		p.colour("fill", ink, alpha))
}

func (p *svgPen) ring(ink string, alpha, x, y, r float64) {
	fmt.Fprintf(&p.text, `<circle cx="%s" cy="%s" r="%s" fill="none"%s stroke-width="%s"/>`+"\n",
		px(x), px(y), px(r), p.colour("stroke", ink, alpha), px(ringWidth))
}

func (p *svgPen) write(bold bool, size float64, ink string, x, y, before float64, text string) {
	look := map[float64]string{0.5: ` text-anchor="middle"`, 1: ` text-anchor="end"`}[before]
	if bold {
		look += ` font-weight="bold"`
	}
	if size != textSmall {
		look += ` font-size="` + px(size) + `"`
	}
	if text != "" {
		fmt.Fprintf(&p.text, `<text x="%s" y="%s"%s%s>%s</text>`+"\n", px(x), px(y), look,
			p.colour("fill", ink, 1), html.EscapeString(text))
	}
}

// writeTo writes the picture, with a title for those who do not see it.
func (p *svgPen) writeTo(w io.Writer, width, height float64, title string) error {
	size := fmt.Sprintf(`width="%s" height="%s" `, px(width), px(height))
	if p.paged {
		size = "" // as wide as there is room
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" %sviewBox="0 0 %s %s" `+
		`role="img" font-family="'%s',Arial,Helvetica,sans-serif" font-size="%s">
<title>%s</title>
%s%s</svg>
`, size, px(width), px(height), fontName, px(textSmall), html.EscapeString(title), p.darkStyle(),
		p.text.String())
	return err
}

// darkStyle has the colours for readers who prefer dark. It wins against the attributes.
func (p *svgPen) darkStyle() string {
	if !p.both {
		return ""
	}
	var rules strings.Builder
	for _, ink := range slices.Sorted(maps.Keys(p.inks)) {
		c := hexOf(ink, true)
		fmt.Fprintf(&rules, `.%s:not([fill=none]){fill:%s}.%s[stroke]{stroke:%s}`, ink, c, ink, c)
	}
	return "<style>@media(prefers-color-scheme:dark){" + rules.String() + "}</style>\n"
}

// A pngPen draws a PNG.
type pngPen struct {
	*vgimg.Canvas
	faces  faces
	dark   bool
	height float64
}

const (
	density = 2 // pixels of a PNG for each px
	dpi     = 72
)

func newPNG(f faces, dark bool, width, height float64) *pngPen {
	return &pngPen{faces: f, dark: dark, height: height,
		Canvas: vgimg.NewWith(vgimg.UseWH(vg.Length(width), vg.Length(height)),
			vgimg.UseDPI(dpi*density))}
}

func (p *pngPen) writeTo(w io.Writer) error {
	_, err := vgimg.PngCanvas{Canvas: p.Canvas}.WriteTo(w)
	return err
}

func (p *pngPen) use(ink string, alpha float64) {
	hex := strings.TrimPrefix(hexOf(ink, p.dark), "#")
	rgb, _ := strconv.ParseUint(hex, 16, 32) // each colour is one: TestTheme
	p.SetColor(color.NRGBA{R: uint8(rgb >> 16), G: uint8(rgb >> 8), B: uint8(rgb),
		A: uint8(math.Round(255 * alpha))})
}

// at is a place on the canvas, which has its origin at the bottom.
func (p *pngPen) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x), Y: vg.Length(p.height - y)}
}

func (p *pngPen) path(points [][2]float64) (path vg.Path) {
	for i, point := range points {
		if place := p.at(point[0], point[1]); i == 0 {
			path.Move(place)
		} else {
			path.Line(place)
		}
	}
	return path
}

func (p *pngPen) fill(ink string, alpha float64, shapes ...[][2]float64) {
	p.use(ink, alpha)
	for _, points := range shapes {
		if len(points) > 2 {
			path := p.path(points)
			path.Close()
			p.Fill(path)
		}
	}
}

func (p *pngPen) stroke(ink string, alpha, width float64, dash []float64, points [][2]float64) {
	if len(points) < 2 {
		return
	}
	lengths := make([]vg.Length, len(dash))
	for i, length := range dash {
		lengths[i] = vg.Length(length)
	}
	p.use(ink, alpha)
	p.SetLineWidth(vg.Length(width))
	p.SetLineDash(lengths, 0)
	p.Stroke(p.path(points))
	p.SetLineDash(nil, 0)
}

func (p *pngPen) circle(x, y, r float64) (path vg.Path) {
	centre := p.at(x, y)
	path.Move(vg.Point{X: centre.X + vg.Length(r), Y: centre.Y})
	path.Arc(centre, vg.Length(r), 0, 2*math.Pi)
	path.Close()
	return path
}

func (p *pngPen) disc(ink string, alpha, x, y, r float64) {
	p.use(ink, alpha)
	p.Fill(p.circle(x, y, r))
}

func (p *pngPen) ring(ink string, alpha, x, y, r float64) {
	p.use(ink, alpha)
	p.SetLineWidth(ringWidth)
	p.Stroke(p.circle(x, y, r))
}

func (p *pngPen) write(bold bool, size float64, ink string, x, y, before float64, text string) {
	face := sized(p.faces.regular, size)
	if bold {
		face = sized(p.faces.bold, size)
	}
	p.use(ink, 1)
	p.FillString(face, p.at(x-before*float64(face.Width(text)), y), text)
}
