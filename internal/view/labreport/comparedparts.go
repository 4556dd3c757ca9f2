package labreport

import (
	"dyno/internal/lab/judge"
	"dyno/internal/view/format"
)

// A Part of a report is a heading, sentences and a table, for whoever sets them in another
// way than as text. Each of them may be absent.
type Part struct {
	Head  string     `json:"head"`
	Text  []string   `json:"text"`
	Table [][]string `json:"table"` // its first row is the head
	Sides string     `json:"sides"` // l or r for each column; the last is that of all further ones
}

// UnpairedParts are what Unpaired writes.
func UnpairedParts(u *judge.Unpaired) ([]Part, error) {
	if u.IsSingle() {
		return singleParts(u)
	}
	differing, err := differingRows(u)
	if err != nil {
		return nil, err
	}
	all := []Part{
		{Table: append(format.Table{{"", "", "runs", "of", ""}}, groupLegend(u)...), Sides: "l"},
		{Text: u.Cautions},
	}
	for _, s := range comparisonSections(u) {
		if !s.isEmpty() {
			all = append(all, Part{s.head, s.text, s.table, s.sides})
		}
	}
	return append(all, differingPart(likenessText(differing), differing)), nil
}

func singleParts(u *judge.Unpaired) ([]Part, error) {
	rs := resultsOf(u)
	legend, cautions, differing, err := comparedParts(rs)
	if err != nil {
		return nil, err
	}
	return []Part{
		{Table: append(format.Table{{"", "result", "", ""}}, legend...), Sides: "l"},
		{Table: sideBySide(rs), Sides: "lr"},
		differingPart(cautions, differing),
	}, nil
}

// differingPart is in what the plans and machines differ, and what follows from that.
func differingPart(text []string, differing format.Table) Part {
	p := Part{Text: text, Sides: "l"}
	if len(differing) > 0 {
		p.Table = withLetters(differing)
	}
	return p
}
