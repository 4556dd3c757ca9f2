// Package document has what a report says, as values, and lays it out: for a terminal, as Markdown,
// and, by the keys of Part, for a page. It knows no subject. Packages report, labreport and
// historytext make a Doc of a run, a search, a comparison, an experiment or a history, once for all
// formats: what is said, and in which order, cannot differ between them.
//
//	document.go  the values
//	terminal.go  for a terminal: aligned, wrapped, in colours
//	markdown.go  for a file or a pull request
//	folded.go    what a pull request shows only when it is opened
//	room.go      what is left out where a first screen has room for few lines
package document

import "dyno/internal/view/format"

// A Doc is a report: its title, and its parts in their order.
type Doc struct {
	Title string
	Parts []Part
	Most  int // lines that there is room for; 0: any number

	// In Markdown: what opens the parts that are Folded, and how many characters there is room for,
	// with those that are not; 0: any number.
	Fold       string
	Characters int
}

// A Part has what belongs together: a heading, rows, sentences, a table, and what stands below it.
// Each of them may be absent, and a part without any is left out. Texts are plain.
type Part struct {
	Head  string       `json:"head"`
	Tone  format.Color `json:"-"` // of the heading; "": bold
	Rows  []Row        `json:"-"`
	Text  []string     `json:"text"`  // paragraphs
	Table format.Table `json:"table"` // its first row is the head
	Sides string       `json:"sides"` // of its columns; see format.Table.WriteText
	Under []string     `json:"-"`     // lines below the table
	Plot  []string     `json:"-"`     // lines of a terminal that keep their shape

	Apart bool   `json:"-"` // in Markdown each of Rows is a paragraph, not a row of a table
	Close bool   `json:"-"` // in a terminal no blank line is before it
	Lines int    `json:"-"` // of Rows, in Markdown Rows, unless the style wants detail; 0: any number
	Most  int    `json:"-"` // rows of Table that are shown; 0: all
	Rest  string `json:"-"` // where the others are: "in --json"; of a part that is spared, its name

	// In a terminal the rows of Table have these tones and no head, and what is in their last column
	// goes on below itself.
	Beside []format.Color `json:"-"`

	// In Markdown, Folded parts are below what has to be opened, those for which there is room. Of
	// those with the same Choice there is the first of them; one that Counts is always there, and
	// takes at most so many characters from the others.
	Folded  bool    `json:"-"`
	Choice  string  `json:"-"`
	Counts  int     `json:"-"`
	Picture Picture `json:"-"`

	// Of a Doc that has at most so many lines: the part with the highest Spare is left out first, one
	// with 0 never. The Rows of the part that yields have what lines are left.
	Spare  int  `json:"-"`
	Yields bool `json:"-"`
}

// A Picture is a file beside one of Markdown, and what it shows. A terminal has none.
type Picture struct{ Shows, File string }

// A Row is a name, and what is known of it.
type Row struct {
	Name    string       `json:"name"`            // "": it goes on with the row before it
	Aside   bool         `json:"aside,omitempty"` // it speaks against the others, and stands out
	Strong  bool         `json:"-"`               // it is the answer, and in Markdown bold
	Text    string       `json:"text"`
	Tone    format.Color `json:"-"`
	Command string       `json:"command,omitempty"` // to be copied, behind the text
	Items   []string     `json:"-"`                 // details, one by one
	Most    int          `json:"-"`                 // lines, unless there is detail; 0: any
}

// Aside is a row that speaks against the others.
func Aside(name, text string) Row {
	return Row{Name: name, Text: text, Tone: format.Yellow, Aside: true}
}

// isEmpty reports whether there is nothing in a part but its heading.
func (p Part) isEmpty() bool {
	return len(p.Rows)+len(p.Text)+len(p.Under)+len(p.Plot) == 0 && p.Table == nil &&
		p.Picture.File == ""
}

// Filled are the parts that say something.
func Filled(all []Part) (filled []Part) {
	for _, p := range all {
		if !p.isEmpty() {
			filled = append(filled, p)
		}
	}
	return filled
}

// shownRows are the rows of the table that are shown, and a line about those that are not.
func (p Part) shownRows() (shown format.Table, left string) {
	if p.Most == 0 || len(p.Table) <= p.Most+1 { // with the head
		return p.Table, ""
	}
	left = "and " + format.Count(int64(len(p.Table)-p.Most-1)) + " more"
	if p.Rest != "" {
		left += ", " + p.Rest
	}
	return p.Table[:p.Most+1], left
}
