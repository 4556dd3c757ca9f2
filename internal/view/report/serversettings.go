package report

import (
	"slices"

	"dyno/internal/fairness"
	"dyno/internal/lab"
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
		line := []string{plainLine(row.Aspect)}
		for _, c := range row.Cells {
			value := Clip(plainLine(c.Value), 60)
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
		head = append(head, plainLine(name))
	}
	out.table = append(table{head}, out.table...)
	return out
}

// isInformative reports whether a row of the fairness table is reported and not judged.
func isInformative(row fairness.Row) bool {
	return slices.ContainsFunc(row.Cells, func(c fairness.Cell) bool {
		return c.State == fairness.Shown
	})
}
