package labreport

import (
	"slices"

	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// givenPart is what servers were given besides the question: what of the fairness table is
// reported and not judged.
func givenPart(r *lab.Record) document.Part {
	if r.Fairness == nil {
		return document.Part{}
	}
	out := document.Part{Head: "What the servers were given", Sides: "l", Text: []string{
		"Read from the processes before the load, and not judged: it may be what is compared, or why " +
			"a comparison is not what it seems."}}
	for _, row := range r.Fairness.Rows {
		if !isInformative(row) {
			continue
		}
		line := []string{format.PlainLine(row.Aspect)}
		for _, c := range row.Cells {
			value := format.Clip(format.PlainLine(c.Value), 60)
			if c.State == fairness.Unseen {
				value = "n/a"
			}
			line = append(line, value)
		}
		out.Table = append(out.Table, line)
	}
	if out.Table == nil {
		return document.Part{}
	}
	head := []string{"aspect"}
	for _, name := range r.Fairness.Variants {
		head = append(head, format.PlainLine(name))
	}
	out.Table = append(format.Table{head}, out.Table...)
	return out
}

// isInformative reports whether a row of the fairness table is reported and not judged.
func isInformative(row fairness.Row) bool {
	return slices.ContainsFunc(row.Cells, func(c fairness.Cell) bool {
		return c.State == fairness.Shown
	})
}
