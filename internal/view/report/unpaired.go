package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// Unpaired writes what runs that were measured apart say of each other, for a
// terminal. Single results it sets side by side, as Compare does.
func Unpaired(w io.Writer, u *lab.Unpaired, s Style) error {
	d := &document{w: w}
	if u.Single() {
		if err := Compare(d, results(u)); err != nil {
			return err
		}
		gateOf(u.Gate).write(d, s)
		return d.err
	}
	differing, err := unlike(u)
	if err != nil {
		return err
	}
	legend(u).write(d, "", "l")
	for _, c := range u.Cautions {
		writeFact(d, s, yellow, Fact{"CAUTION", plain(c)})
	}
	for _, part := range comparisonSections(u) {
		part.write(d, s)
	}
	fmt.Fprintln(d)
	for _, line := range likeness(differing) {
		fmt.Fprintln(d, strings.Join(wrap(line, textWidth), "\n"))
	}
	writeDiffering(d, differing)
	return d.err
}

// UnpairedMarkdown writes the same for a page or a pull request.
func UnpairedMarkdown(w io.Writer, u *lab.Unpaired) error {
	d := &document{w: w}
	fmt.Fprint(d, "# Comparison\n\n")
	if u.Single() {
		if err := CompareMarkdown(d, results(u)); err != nil {
			return err
		}
		gateOf(u.Gate).markdown(d)
		return d.err
	}
	differing, err := unlike(u)
	if err != nil {
		return err
	}
	append(table{{"", "", "runs", "of", ""}}, legend(u)...).markdown(d, "l")
	for _, c := range u.Cautions {
		fmt.Fprintf(d, "> **Caution:** %s\n\n", escape(c))
	}
	for _, part := range comparisonSections(u) {
		part.markdown(d)
	}
	for _, line := range likeness(differing) {
		fmt.Fprintf(d, "%s\n\n", escape(line))
	}
	markDiffering(d, differing)
	return d.err
}

// results are those of single runs.
func results(u *lab.Unpaired) (all []*result.Result) {
	for _, g := range u.Groups {
		all = append(all, g.Results()...)
	}
	return all
}

// unlike is in what the groups' plans and machines differ. Where experiments
// started their servers is drawn anew for each trial, and says nothing.
func unlike(u *lab.Unpaired) (table, error) {
	groups := make([][]*result.Result, len(u.Groups))
	for i, g := range u.Groups {
		groups[i] = g.Results()
	}
	all, err := differences(groups)
	var kept table
	for _, row := range all {
		if u.Groups[0].Record == nil || !isTarget(row[0]) {
			kept = append(kept, row)
		}
	}
	return append(kept, surroundings(u)...), err
}

// surroundings are what experiments ran in and on, where it differs.
func surroundings(u *lab.Unpaired) (differ table) {
	var names []string
	values := make([]map[string]string, len(u.Groups))
	for i, g := range u.Groups {
		if g.Record == nil {
			return nil
		}
		values[i] = map[string]string{}
		for _, f := range g.Record.Environment() {
			values[i][f.Name] = f.Value
			names = with(names, f.Name)
		}
	}
	for _, name := range names {
		row, alike := []string{plain(name)}, true
		for i := range values {
			row = append(row, shorten(values[i][name]))
			alike = alike && values[i][name] == values[0][name]
		}
		if !alike {
			differ = append(differ, row)
		}
	}
	return differ
}

const widestName = 60 // characters of what a group was called

// legend says what the groups are.
func legend(u *lab.Unpaired) (t table) {
	for i, g := range u.Groups {
		runs := 0
		for _, s := range g.Samples {
			runs += len(s.Runs)
		}
		row := []string{letter(i), Clip(plain(g.Name), widestName), Many(int64(runs), "run")}
		if g.Record != nil {
			row = append(row, "experiment "+plain(g.Record.Name), "dyno "+plain(g.Record.Dyno))
		} else if rs := g.Results(); len(rs) > 0 {
			row = append(row, what(rs[0]), model(rs[0]))
		}
		t = append(t, row)
	}
	return t
}

func comparisonSections(u *lab.Unpaired) []section {
	gate := gateOf(nil)
	if u.Gate != nil {
		short := *u.Gate
		short.Missed = u.Labelled(short.Missed)
		gate = gateOf(&short)
	}
	return []section{gate, judged(u), groupMedians(u)}
}

// judged is the verdict table, first in words.
func judged(u *lab.Unpaired) section {
	out := section{head: "Verdicts", sides: "llllrrlrr", table: table{
		{"level", "measure", "", "of", "ratio", "95 % interval", "verdict", "runs", "p (corrected)"}},
		text: correction(u.Verdicts)}
	for _, c := range u.Labelled(u.Verdicts) {
		if !c.Control {
			out.text = append(out.text, sentence(c))
		}
		out.table = append(out.table, []string{plain(c.Level), c.Metric, plain(c.Variant),
			plain(c.Baseline), ratio(c), span(c), mark(c), counts(c),
			pValue(c.PAdjusted)})
	}
	if len(u.Verdicts) == 0 {
		return section{head: "Verdicts", text: []string{"Nothing could be compared."}}
	}
	return out.leveled()
}

// trialsOf is on how many trials a comparison rests, in words.
func trialsOf(c lab.Comparison) string {
	if c.Against == 0 {
		return Many(int64(c.Trials), "pair")
	}
	return fmt.Sprintf("%s against %s", Many(int64(c.Trials), "run"), count(int64(c.Against)))
}

// counts is trialsOf in a table.
func counts(c lab.Comparison) string {
	if c.Against == 0 {
		return Many(int64(c.Trials), "pair")
	}
	return fmt.Sprintf("%s/%s", count(int64(c.Trials)), count(int64(c.Against)))
}

// repetition is what more of would decide.
func repetition(c lab.Comparison) string {
	if c.Against == 0 {
		return "round"
	}
	return "run"
}

// groupMedians has a row for each group, or arm of it, at each level.
func groupMedians(u *lab.Unpaired) section {
	type place struct{ level, name string }
	rows, runs := map[place][]string{}, map[place]int{}
	var places []place
	head := []string{"level", ""}
	for _, c := range u.Cells {
		at := place{c.Level, c.Arm}
		if rows[at] == nil {
			places, rows[at] = append(places, at), []string{plain(c.Level), plain(u.Label(c.Arm))}
		}
		column := slices.Index(head, c.Metric+" ("+c.Unit+")")
		if column < 0 {
			column, head = len(head), append(head, c.Metric+" ("+c.Unit+")")
		}
		for len(rows[at]) < column {
			rows[at] = append(rows[at], "n/a")
		}
		rows[at] = append(rows[at], median(c.Median))
		runs[at] = max(runs[at], c.Trials)
	}
	if len(places) == 0 {
		return section{}
	}
	out := section{head: "Medians", sides: "llr", table: table{append(head, "runs")},
		text: []string{"In brackets is the 95 % interval of a median; it takes 6 runs."}}
	for _, at := range places {
		for len(rows[at]) < len(head) {
			rows[at] = append(rows[at], "n/a")
		}
		out.table = append(out.table, append(rows[at], count(int64(runs[at]))))
	}
	return out.leveled()
}

func median(v stats.Interval) string {
	if v.Level < 0.95-1e-9 {
		return digits3(v.Estimate)
	}
	return bracketed(v.Estimate, v.Low, v.High)
}

// leveled is the section without its first column, the level's, if no row has
// one.
func (p section) leveled() section {
	for _, row := range p.table[1:] {
		if row[0] != "" {
			return p
		}
	}
	for i := range p.table {
		p.table[i] = p.table[i][1:]
	}
	p.sides = p.sides[1:]
	return p
}
