// Package chart makes every figure: of a run, a search, a sweep, an experiment, a history.
//
// A View is values only: axes, marks and texts. It is made from a payload. Package drawing draws it
// as SVG or PNG, and the page, which has it as JSON (Set), with web/src/draw.ts, so a picture and
// the page show the same figures.
//
//	axes.go         ticks and scales of axes (ratioTicks: those of forest plots)
//	capacity.go     views of a search and of a sweep
//	experiment.go   views of an experiment: spectrum, shift, cost
//	flames.go       flame graphs of an experiment's profiles
//	forest.go       forest plots: ratios to baselines, with intervals
//	halfnormal.go   the half-normal plot of a screening
//	json.go         views as the page has them, by section
//	latency.go      views of a run's latencies: spectrum, heat map
//	multiples.go    small plots in place of one with too many lines
//	overload.go     views of an experiment over rates: ladder, bend
//	past.go         figures from run to run: earlier runs, series of results
//	published.go    published ratios beside ours
//	readings.go     readings of servers and machine while they were loaded
//	run.go          views of a run over time: throughput, percentiles, errors, agents
//	runrows.go      views of a run as rows: status codes, routes, CPU, phases
//	streams.go      views of streams of events: first events and gaps over time, rain
//	trials.go       each trial: its figure, the machine meanwhile, its warm-up
//	view.go         a View: axes, marks, texts
package chart

import (
	"fmt"
	"math"
	"strings"
)

// A View is one picture before it is drawn. It is a value: Go draws it as SVG or PNG, and the page
// has it as JSON and draws that, in web/src/draw.ts.
type View struct {
	Name    string   `json:"name"`              // how it is asked for; "": only the page has it
	Title   string   `json:"title"`             // what it shows, or what it says
	About   string   `json:"-"`                 // what was loaded, and how
	Unit    string   `json:"unit"`              // of the axes
	Of      string   `json:"of,omitempty"`      // the unit of the values alone, for their table
	Summary string   `json:"summary,omitempty"` // what it shows, for those who do not see it
	Legend  []Key    `json:"legend,omitempty"`  // of the marks
	X       Axis     `json:"x"`
	Y       Axis     `json:"y"`                // not used if there are Rows
	Rows    []Row    `json:"rows,omitempty"`   // of a plot that has rows, from the top
	Marks   []Mark   `json:"marks,omitempty"`  // in the order in which they are drawn
	Panels  []Panel  `json:"panels,omitempty"` // small plots in place of one with X and Y
	Height  float64  `json:"height,omitempty"` // of the field in px; 0: as the width asks for
	Foot    []string `json:"foot,omitempty"`   // n, what intervals are, notes
	Left    string   `json:"left,omitempty"`   // of Foot: that not all lines are drawn
	Empty   string   `json:"empty,omitempty"`  // why there is nothing to draw; "": there is

	Section string   `json:"section,omitempty"` // of the page; "": the page does not draw it
	Figure  string   `json:"figure,omitempty"`  // of the page: readers choose one of its views
	Choice  []Choice `json:"choice,omitempty"`  // by which they choose this one
	Level   string   `json:"level,omitempty"`   // of the load: readers can leave it out
	Cursor  bool     `json:"cursor,omitempty"`  // X is the time of a load: such plots share a cursor
}

// A Choice is a value of something that readers of the page choose.
type Choice struct {
	Of    string `json:"of"` // "measure"
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // "": the name
}

// A Panel is one of several small plots of a view.
type Panel struct {
	Title string `json:"title"`
	Of    string `json:"of,omitempty"` // the variant that it is of
	X     Axis   `json:"x"`
	Y     Axis   `json:"y"`
	Marks []Mark `json:"marks"`
}

// An Axis is the values from Low to High.
type Axis struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Log   bool    `json:"log,omitempty"`
	Label string  `json:"label,omitempty"`
	Ticks []Tick  `json:"ticks"`
	Unit  string  `json:"unit,omitempty"`  // of values: see Amount
	Other *Axis   `json:"other,omitempty"` // that readers of the page can have in its place
	Name  string  `json:"name,omitempty"`  // by which they choose one of the two
}

// A Tick is a value of an axis, and how it is written.
type Tick struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// At is the place of v between Low, 0, and High, 1. What lies outside is put at the end.
func (a Axis) At(v float64) float64 {
	low, high := a.Low, a.High
	if a.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(v)
	}
	if high == low {
		return 0.5
	}
	return min(max((v-low)/(high-low), 0), 1)
}

// A Row is a line of a plot that has rows: what is at its left and at its right. A wide page has
// Below, Value and Note at places of their own; a narrow one has Label and Short above the marks.
type Row struct {
	Label string `json:"label"`
	Below string `json:"below,omitempty"` // the label, smaller
	Value string `json:"value,omitempty"` // between label and field
	Says  string `json:"says,omitempty"`
	Short string `json:"short,omitempty"` // of what it says; "": all of it
	Note  string `json:"note,omitempty"`  // after what it says
	Ink   string `json:"ink,omitempty"`   // of what it says; "": that of text
	Head  bool   `json:"head,omitempty"`  // a heading of the rows below
	Of    string `json:"of,omitempty"`    // the variant that it is of
}

// Said is what stands at the right of a row.
func (r Row) Said() string { return joined(", ", r.Says, r.Note) }

// A Kind is how a mark is drawn.
type Kind string

// The kinds of marks.
const (
	Line    Kind = ""        // through the points; a point that is not a number breaks it
	Steps   Kind = "steps"   // one value, Y, from Low to X; lines from one to the next if they touch
	Rect    Kind = "rect"    // between each two points, which are opposite corners
	Dot     Kind = "dot"     // at each point
	Area    Kind = "area"    // between the line of X, Y and that of X, Low
	Caption Kind = "caption" // Name, within two opposite corners; nothing where there is no room
	Text    Kind = "text"    // the mark's name, beside each point
	Rule    Kind = "rule"    // from the top of the field to its bottom, at each X
)

// A Shape is that of a dot.
type Shape string

// The shapes of dots.
const (
	Circle   Shape = ""
	Ring     Shape = "ring"
	Square   Shape = "square"
	Triangle Shape = "triangle"
	Cross    Shape = "cross"
	Diamond  Shape = "diamond"
)

// A Point is where a mark is: values of the axes, or the number of a row.
type Point struct{ X, Y, Low float64 }

// A Mark is something that is drawn.
type Mark struct {
	Kind   Kind
	Name   string // of what it shows, as the legend has it
	Of     string // the line or variant that it belongs to, see divide; "": all
	Part   string // by which readers of the page can leave it out: "trials"
	Says   string // for readers of the page who point at it
	Points []Point
	Each   []string // likewise, of each point
	Ink    string   // a colour of the style sheet: "c1", "good"
	Alpha  float64  // 0 is 1
	Width  float64  // of a line in px; the radius of a dot
	Dash   int      // of a line: the number of its pattern
	Shape  Shape    // of a dot
	Left   bool     // of a text: it ends at the left of the point
}

// A Key is an entry of the legend.
type Key struct {
	Name  string `json:"name"`
	Of    string `json:"of,omitempty"` // the variant that it is of
	Ink   string `json:"ink"`
	Dash  int    `json:"dash,omitempty"`
	Kind  Kind   `json:"kind,omitempty"`
	Shape Shape  `json:"shape,omitempty"`
}

// Find returns the view of that name; if name is "", the first that shows something. Its error
// lists the names, of many the first.
func Find(views []View, name string) (View, error) {
	var names []string
	for _, v := range views {
		if name == "" && v.Empty == "" {
			return v, nil
		}
	}
	for _, v := range views {
		if v.Name == name || name == "" {
			return v, nil
		}
		if v.Name != "" {
			names = append(names, v.Name)
		}
	}
	const most = 20
	more := ""
	if n := len(names); n > most {
		more, names = fmt.Sprintf(" and %d more; dyno chart RESULT lists all", n-most), names[:most]
	}
	return View{}, fmt.Errorf("%q is no view of it; there are %s%s", name, strings.Join(names, ", "),
		more)
}

// extent is the least and the largest of the values that are finite, and above 0 if positive is
// set; found is false if there are none.
func extent(values []float64, positive bool) (low, high float64, found bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || positive && v <= 0 {
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	return low, high, low <= high
}
