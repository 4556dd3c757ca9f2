// Package chart draws the views of the page as pictures, SVG or PNG, without a browser.
//
// A View is values only: axes, marks and texts. It is made from the payload that feeds the page
// (packages page, report and labanswer), so a picture and the page show the same figures. What a
// view's name, title and unit are is what the page has as the figure's id, title and unit.
//
// Write draws a View on gonum's vector canvas (gonum.org/v1/plot/vg), which writes SVG and PNG from
// the same calls. Its package plot is not used: that cannot draw rows with a verdict at their side.
//
//	axes.go         ticks and scales of axes
//	capacity.go     views of a search and of a sweep
//	draw.go         draws a View: SVG, PNG
//	experiment.go   views of an experiment: forest, spectrum, shift, cost
//	flames.go       flame graphs of an experiment's profiles
//	halfnormal.go   the half-normal plot of a screening
//	latency.go      views of a run's latencies: spectrum, heat map
//	multiples.go    small plots in place of one with too many lines
//	overload.go     views of an experiment over rates and time: ladder, bend, trials, warm-up
//	past.go         views of an experiment's earlier runs
//	published.go    published ratios beside ours
//	readings.go     readings of servers and machine while they were loaded
//	run.go          views of a run over time: throughput, percentiles, errors, agents
//	runrows.go      views of a run as rows: status codes, routes, CPU, phases
//	theme.go        colours and fonts
//	view.go         a View: axes, marks, texts
package chart

import (
	"fmt"
	"math"
	"strings"
)

// A View is one picture before it is drawn.
type View struct {
	Name   string   // how it is asked for: "heat", "spectrum"
	Title  string   // what it shows, or what it says
	About  string   // what was loaded, and how
	Unit   string   // of the axes
	Legend []Key    // of the marks
	X, Y   Axis     // Y is not used if there are Rows
	Rows   []Row    // of a plot that has rows instead of an axis, from the top
	Marks  []Mark   // in the order in which they are drawn
	Panels []Panel  // small plots in place of one with too many lines; X and Y are not used then
	Height float64  // of the field in px; 0: as the width asks for
	Foot   []string // n, what intervals are, notes
	Empty  string   // why there is nothing to draw; "": there is
}

// A Panel is one of several small plots of a view.
type Panel struct {
	Title string
	X, Y  Axis
	Marks []Mark
}

// An Axis is the values from Low to High.
type Axis struct {
	Low, High float64
	Log       bool
	Label     string
	Ticks     []float64
	Text      func(float64) string // how a tick is written
}

// at is the place of v between Low, 0, and High, 1. What lies outside is put at the end.
func (a Axis) at(v float64) float64 {
	low, high := a.Low, a.High
	if a.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(v)
	}
	if high == low {
		return 0.5
	}
	return min(max((v-low)/(high-low), 0), 1)
}

// A Row is a line of a plot that has rows: what is at its left and at its right.
type Row struct {
	Label, Says string
	Ink         string // of what it says; "": that of text
	Head        bool   // a heading of the rows below
}

// A Kind is how a mark is drawn.
type Kind int

// The kinds of marks.
const (
	Line    Kind = iota // through the points; a point that is not a number breaks it
	Rect                // between each two points, which are opposite corners
	Dot                 // at each point
	Area                // between the line of X, Y and that of X, Low
	Caption             // Name, within two opposite corners; nothing where there is no room
	Text                // the mark's name, beside each point
)

// A Shape is that of a dot.
type Shape int

// The shapes of dots.
const (
	Circle Shape = iota
	Ring
	Square
	Triangle
	Cross
	Diamond
)

// A Point is where a mark is: values of the axes, or the number of a row.
type Point struct{ X, Y, Low float64 }

// A Mark is something that is drawn.
type Mark struct {
	Kind   Kind
	Name   string // of what it shows, as the legend has it
	Of     string // the line or variant that it belongs to, see divide; "": all
	Points []Point
	Ink    string  // a colour of the style sheet: "c1", "good"
	Alpha  float64 // 0 is 1
	Width  float64 // of a line in px; the radius of a dot
	Dash   int     // of a line: the number of its pattern
	Shape  Shape   // of a dot
	Left   bool    // of a text: it ends at the left of the point
}

// A Key is an entry of the legend.
type Key struct {
	Name, Ink string
	Dash      int
	Kind      Kind
	Shape     Shape
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
		names = append(names, v.Name)
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
