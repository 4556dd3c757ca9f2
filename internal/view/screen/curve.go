package screen

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/view/format"
)

// A curve is values of as many seconds, the latest last, drawn as columns that
// begin at 0.
type curve struct {
	name   string
	values []float64
	show   func(float64) string // writes a value
}

const (
	labelWidth = 11 // of the names and the scale, left of the columns
	widest     = 3  // characters that a second is drawn in
)

// blocks are the eighths of a character.
var blocks = []rune(" ▁▂▃▄▅▆▇█")

// screenRows are a line that says what the curve says, and the curve, in so many lines.
func (c curve) screenRows(width, lines int, more string) []row {
	if len(c.values) == 0 {
		all := []row{{fmt.Sprintf(factLine, c.name, format.TooFew), format.Bold}}
		return append(all, make([]row, lines)...)
	}
	last, low, high := c.values[len(c.values)-1], slices.Min(c.values), slices.Max(c.values)
	head := fmt.Sprintf("%-*s %s, last minute %s to %s", labelWidth, c.name, c.show(last),
		c.show(low), c.show(high))
	if more != "" {
		head += "; " + more
	}
	all := []row{{head, format.Bold}}
	columns := width - labelWidth - 2
	each := max(min(columns/minute, widest), 1) // characters a second
	drawn := c.values[max(len(c.values)-max(columns, 0)/each, 0):]
	for line := range lines {
		label := ""
		switch line {
		case 0:
			label = c.show(high)
		case lines - 1:
			label = "0"
		}
		var b strings.Builder
		for _, v := range drawn {
			b.WriteString(strings.Repeat(string(blockAt(v, high, lines-1-line, lines)), each))
		}
		empty := max(min(columns/each, minute)-len(drawn), 0) * each
		all = append(all, row{fmt.Sprintf("%*s ┤%*s%s", labelWidth, label, empty, "", b.String()), ""})
	}
	return all
}

// blockAt is what line number up, from 0, of so many shows of a column. What is not 0
// can be seen.
func blockAt(v, high float64, up, lines int) rune {
	most := len(blocks) - 1
	if v <= 0 {
		return blocks[0]
	}
	eighths := max(int(v/high*float64(lines*most)+0.5), 1)
	return blocks[min(max(eighths-up*most, 0), most)]
}
