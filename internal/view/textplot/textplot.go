// Package textplot draws points in a field of characters, with axes: what a search has probed, a
// sweep, latency by percentile.
package textplot

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// A Plot is points in a field of characters, of which later ones cover earlier.
type Plot struct {
	XName, YName string // of the axes
	Points       []Point
	X, Y         func(float64) string // how to write a value
	Line         float64              // a level of y that is drawn; 0: none
	Log          bool                 // both axes are logarithmic; what is not above 0 is left out
	Marks        []float64            // of x, ascending, to be written; none: its ends and XName
}

// A Point is drawn as a character.
type Point struct {
	X, Y float64
	As   rune
}

// The size of a plot in characters, labels apart.
const (
	Width  = 64
	Height = 14
)

// axisRange is the values along an axis.
type axisRange struct {
	low, high float64
	log       bool
}

func (a axisRange) scaled(v float64) float64 {
	if a.log {
		return math.Log(v)
	}
	return v
}

// positionOf is the place of v among n, from 0.
func (a axisRange) positionOf(v float64, n int) int {
	if a.high == a.low {
		return n / 2
	}
	share := (a.scaled(v) - a.scaled(a.low)) / (a.scaled(a.high) - a.scaled(a.low))
	return int(math.Round(share * float64(n-1)))
}

// valueAt is the value at a place of n, from 0.
func (a axisRange) valueAt(place, n int) float64 {
	at := a.scaled(a.low) + (a.scaled(a.high)-a.scaled(a.low))*float64(place)/float64(n-1)
	if a.log {
		return math.Exp(at)
	}
	return at
}

// axesAndPoints are the ranges of the points that can be drawn, and these points.
func (p Plot) axesAndPoints() (x, y axisRange, drawn []Point) {
	for _, m := range p.Points {
		finite := !math.IsNaN(m.X+m.Y) && !math.IsInf(m.X+m.Y, 0)
		if !finite || p.Log && (m.X <= 0 || m.Y <= 0) {
			continue
		}
		if drawn == nil {
			x, y = axisRange{m.X, m.X, p.Log}, axisRange{m.Y, m.Y, p.Log}
		}
		x.low, x.high = min(x.low, m.X), max(x.high, m.X)
		y.low, y.high = min(y.low, m.Y), max(y.high, m.Y)
		drawn = append(drawn, m)
	}
	if p.Line > 0 && drawn != nil {
		y.low, y.high = min(y.low, p.Line), max(y.high, p.Line)
	}
	return x, y, drawn
}

// Lines draw the plot, if it has two points that differ.
func (p Plot) Lines() (all []string) {
	x, y, drawn := p.axesAndPoints()
	if x.low == x.high {
		return nil
	}
	var field [Height][Width]rune
	if p.Line > 0 {
		for i := range Width {
			field[Height-1-y.positionOf(p.Line, Height)][i] = '-'
		}
	}
	for _, m := range drawn {
		field[Height-1-y.positionOf(m.Y, Height)][x.positionOf(m.X, Width)] = m.As
	}
	var labels [Height]string
	wide := 0
	for row := 0; row < Height; row += 4 {
		labels[row] = p.Y(y.valueAt(Height-1-row, Height))
		wide = max(wide, utf8.RuneCountInString(labels[row]))
	}
	add := func(label, mark, text string) {
		all = append(all, fmt.Sprintf("%*s %s%s", wide, label, mark, strings.TrimRight(text, " ")))
	}
	add("", " ", p.YName)
	for row := range field {
		add(labels[row], "┤", strings.Map(func(r rune) rune { return cmp.Or(r, ' ') },
			string(field[row][:])))
	}
	add("", "└", strings.Repeat("─", Width))
	add("", " ", p.axisLine(x))
	return all
}

// axisLine is what is written below the x axis.
func (p Plot) axisLine(x axisRange) string {
	if p.Marks == nil {
		low, high := p.X(x.low), p.X(x.high)
		between := Width - utf8.RuneCountInString(low+high+p.XName)
		left, right := max(between/2, 1), max(between-between/2, 1)
		return fmt.Sprintf("%s%*s%s%*s%s", low, left, "", p.XName, right, "", high)
	}
	line := ""
	for _, m := range p.Marks {
		text := p.X(m)
		long, used := utf8.RuneCountInString(text), utf8.RuneCountInString(line)
		at := min(x.positionOf(m, Width)-long/2, Width-long)
		if at >= used {
			line += strings.Repeat(" ", at-used) + text
		} else if used == 0 {
			line = text
		}
	}
	return line
}
