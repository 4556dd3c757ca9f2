package chart

import "dyno/internal/view/format"

// This file has what is drawn beside one another: small plots of one line each, where one plot
// would have too many lines to be read.

// divide gives each of the names a small plot of its own, if there are more than one plot can have,
// with the marks of those that beside names, too. A mark of a view that is divided says what it is
// Of. The plots have the same scales.
func (v View) divide(names []string, beside func(string) []string) View {
	if len(names) <= linesMax || v.Empty != "" {
		return v
	}
	return v.dividedAmong(names, beside)
}

// dividedAmong gives each of the names a small plot of its own, also if they are few.
func (v View) dividedAmong(names []string, beside func(string) []string) View {
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
		p := Panel{Title: format.PlainLine(name), Of: name, X: x, Y: y}
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
