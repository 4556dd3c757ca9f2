package format

// Measures of a report, in characters.
const (
	TextWidth = 98 // in which lines break
	indent    = 2  // of lines, besides
	narrowest = 40 // columns in which a report can be read
)

// Style is how a terminal wants its text.
type Style struct {
	Color Paint // of which Visible makes ANSI colours; "": none
	Width int   // columns; 0, and what is more than 100, is 100

	Detail bool // draw the whole distribution, and latency over time
}

// LineWidth is in how many characters lines break, their indent apart.
func (s Style) LineWidth() int {
	if s.Width <= 0 {
		return TextWidth
	}
	return min(TextWidth, max(s.Width, narrowest)-indent)
}

// A Color is the number by which a terminal knows a colour.
type Color string

// The colours of reports.
const (
	Bold   Color = "1"
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
)

// Paint is text in a colour, where the style has colours.
func (s Style) Paint(c Color, text string) string {
	if s.Color == "" {
		return text
	}
	return string(s.Color) + string(c) + "m" + text + string(s.Color) + "0m"
}
