package chart

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// A Set is views as a page has them. Its JSON has the numbers of marks in columns, each once: most
// marks of a page are over the same times.
type Set []View

// A setJSON is a Set as JSON.
type setJSON struct {
	Columns []json.RawMessage `json:"columns"`
	Views   []viewJSON        `json:"views"`

	known map[string]int // places of columns, by their text
}

type viewJSON struct {
	View
	Marks  []markJSON  `json:"marks,omitempty"`
	Panels []panelJSON `json:"panels,omitempty"`
}

type panelJSON struct {
	Panel
	Marks []markJSON `json:"marks"`
}

// A markJSON is a Mark whose points are columns, by their places in the set.
type markJSON struct {
	Kind  Kind    `json:"kind,omitempty"`
	Name  string  `json:"name,omitempty"`
	Of    string  `json:"of,omitempty"`
	Part  string  `json:"part,omitempty"`
	Says  string  `json:"says,omitempty"`
	X     int     `json:"x"`
	Y     int     `json:"y"`
	Low   *int    `json:"low,omitempty"`
	Each  *int    `json:"each,omitempty"`
	Ink   string  `json:"ink,omitempty"`
	Alpha float64 `json:"alpha,omitempty"`
	Width float64 `json:"width,omitempty"`
	Dash  int     `json:"dash,omitempty"`
	Shape Shape   `json:"shape,omitempty"`
	Left  bool    `json:"left,omitempty"`
}

// MarshalJSON writes the views that a page draws.
func (all Set) MarshalJSON() ([]byte, error) {
	s := setJSON{Columns: []json.RawMessage{}, Views: []viewJSON{}, known: map[string]int{}}
	for _, v := range all {
		if v.Section == "" {
			continue
		}
		one := viewJSON{View: v, Marks: s.marks(v.Marks)}
		for _, p := range v.Panels {
			one.Panels = append(one.Panels, panelJSON{p, s.marks(p.Marks)})
		}
		s.Views = append(s.Views, one)
	}
	return json.Marshal(s)
}

func (s *setJSON) marks(all []Mark) (marks []markJSON) {
	for _, m := range all {
		if len(m.Points) == 0 {
			continue
		}
		one := markJSON{Kind: m.Kind, Name: m.Name, Of: m.Of, Part: m.Part, Says: m.Says, Ink: m.Ink,
			Alpha: m.Alpha, Width: m.Width, Dash: m.Dash, Shape: m.Shape, Left: m.Left,
			X: s.column(m.Points, 6, func(p Point) float64 { return p.X }),
			Y: s.column(m.Points, 5, func(p Point) float64 { return p.Y })}
		if m.Kind == Area || m.Kind == Steps {
			low := s.column(m.Points, 6, func(p Point) float64 { return p.Low })
			one.Low = &low
		}
		if len(m.Each) > 0 {
			text, _ := json.Marshal(m.Each) // strings always can be
			each := s.place(text)
			one.Each = &each
		}
		marks = append(marks, one)
	}
	return marks
}

// column is the place of a column of numbers with so many digits; what is no number is null.
func (s *setJSON) column(points []Point, digits int, of func(Point) float64) int {
	text := []byte{'['}
	for i, p := range points {
		if i > 0 {
			text = append(text, ',')
		}
		v := of(p)
		power := float64(digits-1) - math.Floor(math.Log10(math.Abs(v)))
		switch scale := math.Pow(10, power); {
		case math.IsNaN(v) || math.IsInf(v, 0):
			text = append(text, "null"...)
			continue
		case scale > 0 && !math.IsInf(scale, 0):
			v = math.Round(v*scale) / scale
		}
		text = strconv.AppendFloat(text, v, 'f', -1, 64)
	}
	return s.place(append(text, ']'))
}

// place is where the text of a column is.
func (s *setJSON) place(text []byte) int {
	at, found := s.known[string(text)]
	if !found {
		at = len(s.Columns)
		s.known[string(text)] = at
		s.Columns = append(s.Columns, slices.Clip(text))
	}
	return at
}
