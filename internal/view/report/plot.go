package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// A plot is points in a field of characters, of which later ones cover earlier.
type plot struct {
	xName, yName string // of the axes
	points       []dot
	x, y         func(float64) string // how to write a value
	log          bool                 // both axes are logarithmic; what is not above 0 is left out
	marks        []float64            // of x, ascending, to be written; none: its ends and xName
}

type dot struct {
	x, y float64
	as   rune
}

const (
	plotWidth  = 64 // characters, labels apart
	plotHeight = 14
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
func (p plot) axesAndPoints() (x, y axisRange, drawn []dot) {
	for _, m := range p.points {
		finite := !math.IsNaN(m.x+m.y) && !math.IsInf(m.x+m.y, 0)
		if !finite || p.log && (m.x <= 0 || m.y <= 0) {
			continue
		}
		if drawn == nil {
			x, y = axisRange{m.x, m.x, p.log}, axisRange{m.y, m.y, p.log}
		}
		x.low, x.high = min(x.low, m.x), max(x.high, m.x)
		y.low, y.high = min(y.low, m.y), max(y.high, m.y)
		drawn = append(drawn, m)
	}
	return x, y, drawn
}

// lines draw the plot, if it has two points that differ.
func (p plot) lines() (all []string) {
	x, y, drawn := p.axesAndPoints()
	if x.low == x.high {
		return nil
	}
	var field [plotHeight][plotWidth]rune
	for _, m := range drawn {
		field[plotHeight-1-y.positionOf(m.y, plotHeight)][x.positionOf(m.x, plotWidth)] = m.as
	}
	var labels [plotHeight]string
	wide := 0
	for row := 0; row < plotHeight; row += 4 {
		labels[row] = p.y(y.valueAt(plotHeight-1-row, plotHeight))
		wide = max(wide, utf8.RuneCountInString(labels[row]))
	}
	add := func(label, mark, text string) {
		all = append(all, fmt.Sprintf("%*s %s%s", wide, label, mark, strings.TrimRight(text, " ")))
	}
	add("", " ", p.yName)
	for row := range field {
		add(labels[row], "┤", strings.Map(func(r rune) rune { return cmp.Or(r, ' ') },
			string(field[row][:])))
	}
	add("", "└", strings.Repeat("─", plotWidth))
	add("", " ", p.axisLine(x))
	return all
}

// axisLine is what is written below the x axis.
func (p plot) axisLine(x axisRange) string {
	if p.marks == nil {
		low, high := p.x(x.low), p.x(x.high)
		between := plotWidth - utf8.RuneCountInString(low+high+p.xName)
		left, right := max(between/2, 1), max(between-between/2, 1)
		return fmt.Sprintf("%s%*s%s%*s%s", low, left, "", p.xName, right, "", high)
	}
	line := ""
	for _, m := range p.marks {
		text := p.x(m)
		long, used := utf8.RuneCountInString(text), utf8.RuneCountInString(line)
		at := min(x.positionOf(m, plotWidth)-long/2, plotWidth-long)
		if at >= used {
			line += strings.Repeat(" ", at-used) + text
		} else if used == 0 {
			line = text
		}
	}
	return line
}
