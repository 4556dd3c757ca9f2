package document

import (
	"slices"
	"strings"
)

// A layout is how a format lays parts out, in lines.
type layout struct {
	text    func(Part) string
	between int // blank lines before a part that does not stand close
	row     int // lines of a row, at least
}

// fitting are the parts that say something and that there is room for. Those that can be spared
// are left out one after the other, until each row of the part that yields has its lines; a row
// names them.
func (d Doc) fitting(l layout) []Part {
	parts := Filled(d.Parts)
	if d.Most == 0 {
		return parts
	}
	var left []string // the names of those that are left out
	at := 0           // the place of the first of them
	for {
		room, yields, spare := d.Most-1-l.row*min(len(left), 1), -1, -1 // the title, and the names
		for i, p := range parts {
			if !p.Close {
				room -= l.between
			}
			if p.Yields {
				yields = i
			} else {
				room -= strings.Count(l.text(p), "\n")
			}
			if p.Spare > 0 && (spare < 0 || p.Spare >= parts[spare].Spare) {
				spare = i
			}
		}
		rows := 0
		if yields >= 0 {
			rows = len(parts[yields].Rows)
		}
		if room >= l.row*rows || spare < 0 {
			if yields >= 0 {
				parts[yields].Lines = max(room/l.row, 1)
			}
			if len(left) > 0 {
				parts = slices.Insert(parts, at, Part{Close: true, Apart: true, Rows: []Row{
					{Name: "more", Text: strings.Join(left, "; ") + ": -v", Most: 1}}})
			}
			return parts
		}
		if name := parts[spare].Rest; name != "" {
			left, at = append([]string{name}, left...), spare
		}
		parts = slices.Delete(parts, spare, spare+1)
	}
}
