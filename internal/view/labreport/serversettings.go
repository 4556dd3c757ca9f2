package labreport

import (
	"slices"

	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// givenSection is what servers were given besides the question: what of the fairness table is
// reported and not judged.
func givenSection(r *lab.Record) section {
	if r.Fairness == nil {
		return section{}
	}
	out := section{head: "What the servers were given", sides: "l", text: []string{
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
		out.table = append(out.table, line)
	}
	if out.table == nil {
		return section{}
	}
	head := []string{"aspect"}
	for _, name := range r.Fairness.Variants {
		head = append(head, format.PlainLine(name))
	}
	out.table = append(format.Table{head}, out.table...)
	return out
}

// isInformative reports whether a row of the fairness table is reported and not judged.
func isInformative(row fairness.Row) bool {
	return slices.ContainsFunc(row.Cells, func(c fairness.Cell) bool {
		return c.State == fairness.Shown
	})
}
