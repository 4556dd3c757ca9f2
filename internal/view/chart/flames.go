package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dyno/internal/view/format"
)

// Sizes of a flame graph.
const (
	flameRow   = 19.0         // px
	flameLeast = 0.6 / 800    // share of a box that is drawn: less than a pixel is nothing
	flameGap   = 0.5 / 800    // between two boxes
	flameNoted = 0.005        // difference of shares that is marked in words
	flameGrown = "-grown"     // of the name of a view of differences
	rowsGap    = 1 / flameRow // between two rows
)

// flameViews are the flame graphs: of each profile one of its shares, and one of how these differ
// from the baseline's.
func (e experiment) flameViews() (all []View) {
	n := 0
	for k := range e.Flames {
		f := &e.Flames[k]
		level := cmp.Or(format.PlainLine(f.Level), "all levels")
		v := View{Title: fmt.Sprintf("Where the time went: %s, %s, %s", format.PlainLine(f.Arm), level,
			f.Kind)}
		if f.Problem != "" {
			v.Name, v.Empty = fmt.Sprintf("flame-none-%d", k+1), f.File+": "+f.Problem
			all = append(all, v)
			continue
		}
		n++
		v.Name = fmt.Sprintf("flame-%d", n)
		all = append(all, e.flameView(v, k, false))
		if f.Baseline != "" {
			v.Name += flameGrown
			v.Title += ", against " + format.PlainLine(f.Baseline)
			all = append(all, e.flameView(v, k, true))
		}
	}
	return all
}

// A flameBox is a box of a flame graph: shares, from the left, and its row.
type flameBox struct {
	name            string
	from, all, base float64
	depth           int
	kernel          bool
}

// boxesOf are the boxes of the k-th flame that are wide enough to be seen.
func (e experiment) boxesOf(k int) (boxes []flameBox, rows int, least float64) {
	f := &e.Flames[k]
	least = max(f.Least, flameLeast)
	next := map[int]float64{} // where the next box of a row begins
	for i, name := range f.Name {
		b := flameBox{name: f.Names[name], from: next[f.Depth[i]], all: f.All[i], depth: f.Depth[i],
			kernel: slices.Contains(f.Kernel, name)}
		next[b.depth], next[b.depth+1] = b.from+b.all, b.from
		if f.BaseAll != nil {
			b.base = f.BaseAll[i]
		}
		if b.all >= least {
			boxes, rows = append(boxes, b), max(rows, b.depth+1)
		}
	}
	return boxes, rows, least
}

// flameView fills in the k-th flame graph, with differences from the baseline's if grown is set.
func (e experiment) flameView(v View, k int, grown bool) View {
	f := &e.Flames[k]
	boxes, rows, least := e.boxesOf(k)
	v.Unit = "width: share of the profile's samples; top: the root, below each function what it called"
	v.Foot = []string{flameTotal(f.Total, f.Unit) + " in all",
		"boxes below " + format.FinePercent(least) + " are left out",
		"profiled in a run of its own, which is not judged"}
	scale := 0.01
	for _, b := range boxes {
		if b.depth > 0 {
			scale = max(scale, math.Abs(b.all-b.base))
		}
	}
	if grown {
		v.Legend = []Key{{Name: "▲ takes more than the baseline's", Ink: "c2", Kind: Rect},
			{Name: "▼ takes less", Ink: "c1", Kind: Rect}}
	}
	rects := map[[2]string]*Mark{}
	var order []*Mark
	var texts []Mark
	for _, b := range boxes {
		ink, part, text := b.look(grown, scale)
		key := [2]string{ink, fmt.Sprint(part)}
		if rects[key] == nil {
			rects[key] = &Mark{Kind: Rect, Name: "boxes", Ink: ink, Alpha: max(float64(part)/100, 0.02)}
			order = append(order, rects[key])
		}
		right := b.from + max(b.all-flameGap, flameLeast/2)
		corners := []Point{{X: b.from, Y: float64(b.depth)},
			{X: right, Y: float64(b.depth+1) - rowsGap}}
		rects[key].Points = append(rects[key].Points, corners...)
		texts = append(texts, Mark{Kind: Caption, Name: text, Points: corners})
	}
	for _, m := range order {
		v.Marks = append(v.Marks, *m)
	}
	v.Marks = append(v.Marks, texts...)
	if len(boxes) == 0 {
		v.Empty = "The profile has no samples."
	}
	v.X = Axis{Low: 0, High: 1, Label: "share of the samples"}
	for percent := 0; percent <= 100; percent += 20 {
		v.X.Ticks = append(v.X.Ticks, Tick{float64(percent) / 100, fmt.Sprintf("%d %%", percent)})
	}
	v.Y = Axis{Low: float64(rows), High: 0}
	v.Height = flameRow * float64(max(rows, 1))
	return v
}

// look is the colour of a box, in percent of how much of it there is, and its text. Colours tell
// neighbours apart and the kernel's from others; or what grew from what shrank.
func (b flameBox) look(grown bool, scale float64) (ink string, part int, text string) {
	text = format.PlainLine(b.name)
	if grown {
		ink = "c1"
		if b.all > b.base {
			ink = "c2"
		}
		switch more := b.all - b.base; {
		case more >= flameNoted:
			text = "▲ " + text
		case more <= -flameNoted:
			text = "▼ " + text
		}
		return ink, int(math.Round(80 * min(1, math.Abs(b.all-b.base)/scale))), text
	}
	sum := 0
	for _, c := range b.name {
		sum = (sum*31 + int(c)) % 997
	}
	ink = "c1"
	if b.kernel {
		ink = "c5"
	}
	return ink, 22 + sum%4*9, text
}

// flameTotal is a whole profile in its unit.
func flameTotal(total int64, unit string) string {
	switch unit {
	case "nanoseconds":
		return format.Micros(float64(total) / 1e3)
	case "bytes":
		return format.Size(float64(total))
	}
	return joined(" ", format.Count(total), unit)
}
