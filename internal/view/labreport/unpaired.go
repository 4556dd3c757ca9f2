package labreport

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/report"
)

// UnpairedAnswer is what a comparison of runs that were measured apart says first.
func UnpairedAnswer(u *judge.Unpaired) (answer.Answer, error) {
	differing, err := differingRows(u)
	return unpairedAnswer(u, differing), err
}

func unpairedAnswer(u *judge.Unpaired, differing format.Table) answer.Answer {
	var settings []string
	for _, row := range differing {
		if !isTarget(row[0]) && row[0] != "seed" && row[0] != "values" { // which each run draws anew
			settings = append(settings, row[0])
		}
	}
	return labanswer.OfComparison(u, settings)
}

// Unpaired writes what runs that were measured apart say of each other, for a terminal.
func Unpaired(w io.Writer, u *judge.Unpaired, s format.Style) error {
	d, err := unpairedDocument(u)
	return errors.Join(err, d.WriteText(w, s))
}

// UnpairedMarkdown writes the same for a page or a pull request.
func UnpairedMarkdown(w io.Writer, u *judge.Unpaired) error {
	d, err := unpairedDocument(u)
	return errors.Join(err, d.WriteMarkdown(w))
}

// UnpairedParts are what Unpaired writes besides the answer, for a page: what is compared, the
// figures of single runs, the cautions, and the rest.
func UnpairedParts(u *judge.Unpaired) ([]document.Part, error) {
	differing, err := differingRows(u)
	parts, first := comparedParts(u, differing), 1
	if u.IsSingle() {
		first = 2
	}
	return slices.Concat(parts[:first], []document.Part{{Text: comparedCautions(u)}},
		document.Filled(parts[first:])), err
}

func unpairedDocument(u *judge.Unpaired) (document.Doc, error) {
	differing, err := differingRows(u)
	a := unpairedAnswer(u, differing)
	lead := []document.Row{{Name: "verdict", Text: a.Sentence, Tone: boxColor(a.Box)}}
	for _, c := range comparedCautions(u) {
		lead = append(lead, document.Aside("caution", c))
	}
	return document.Doc{Title: "Comparison", Parts: slices.Concat(
		[]document.Part{{Apart: true, Rows: lead}}, comparedParts(u, differing),
		[]document.Part{{Apart: true, Rows: []document.Row{nextRow(a.Next)}}})}, err
}

// nextRow is the next step, with its command.
func nextRow(next answer.Step) document.Row {
	return document.Row{Name: "next", Text: next.Says, Command: next.Command}
}

// comparedCautions are what keeps one from concluding too much.
func comparedCautions(u *judge.Unpaired) []string {
	if u.IsSingle() {
		return singleRunCautions(resultsOf(u))
	}
	return u.Cautions
}

// comparedParts are all of a comparison but its answer and its cautions.
func comparedParts(u *judge.Unpaired, differing format.Table) []document.Part {
	gate := gateOf(nil)
	if u.Gate != nil {
		short := *u.Gate
		short.Missed = u.Labelled(short.Missed)
		gate = gateOf(&short)
	}
	legend := document.Part{Table: groupLegend(u), Sides: "l"}
	if u.IsSingle() {
		return []document.Part{legend, {Table: sideBySide(resultsOf(u)), Sides: "lr"},
			routesPart(resultsOf(u)), gate, differingPart(differing)}
	}
	return []document.Part{legend, gate, verdictsPart(u), groupMedianPart(u), groupRoutesPart(u),
		differingPart(differing)}
}

// resultsOf are those of single runs.
func resultsOf(u *judge.Unpaired) (all []*result.Result) {
	for _, g := range u.Groups {
		all = append(all, g.Results()...)
	}
	return all
}

// differingRows is in what the groups' plans and machines differ. Where experiments
// started their servers is drawn anew for each trial, and says nothing.
func differingRows(u *judge.Unpaired) (format.Table, error) {
	groups := make([][]*result.Result, len(u.Groups))
	for i, g := range u.Groups {
		groups[i] = g.Results()
	}
	all, err := differingSettings(groups)
	var kept format.Table
	for _, row := range all {
		if u.Groups[0].Record == nil || !isTarget(row[0]) {
			kept = append(kept, row)
		}
	}
	return append(kept, settingRows(u)...), err
}

// settingRows are what experiments ran in and on, where it differs.
func settingRows(u *judge.Unpaired) (differ format.Table) {
	var names []string
	values := make([]map[string]string, len(u.Groups))
	for i, g := range u.Groups {
		if g.Record == nil {
			return nil
		}
		values[i] = map[string]string{}
		for _, f := range g.Record.Environment() {
			values[i][f.Name] = f.Value
			names = appendMissing(names, f.Name)
		}
	}
	for _, name := range names {
		row, alike := []string{format.PlainLine(name)}, true
		for i := range values {
			row = append(row, shortenSetting(values[i][name]))
			alike = alike && values[i][name] == values[0][name]
		}
		if !alike {
			differ = append(differ, row)
		}
	}
	return differ
}

const widestName = 60 // characters of what a group was called

// groupLegend says what the groups are.
func groupLegend(u *judge.Unpaired) format.Table {
	t := format.Table{{"", "results", "of", "load"}}
	for i, g := range u.Groups {
		runs := 0
		for _, s := range g.Samples {
			runs += len(s.Runs)
		}
		name := format.Clip(format.PlainLine(g.Name), widestName)
		rs := g.Results()
		switch {
		case !u.IsSingle():
			name += ", " + format.Plural(int64(runs), "run")
		case rs[0].ID != "":
			name = format.PlainLine(rs[0].ID)
		}
		row := []string{letterOf(i), name}
		if g.Record != nil {
			row = append(row, fmt.Sprintf("experiment %s, dyno %s", format.PlainLine(g.Record.Name),
				format.PlainLine(g.Record.Dyno)), labanswer.GroupLoad(g))
		} else if len(rs) > 0 {
			row = append(row, report.MethodAndURL(rs[0]), report.LoadText(rs[0]))
		}
		t = append(t, row)
	}
	return t
}

// verdictsPart is the table of verdicts, and above it what the table does not say.
func verdictsPart(u *judge.Unpaired) document.Part {
	out := document.Part{Head: "Verdicts", Sides: "llllrrlrr", Table: format.Table{
		{"level", "measure", "", "of", "ratio", "95 % interval", "verdict", "runs", "p (corrected)"}}}
	all, findings := u.Labelled(u.Verdicts), []answer.Finding{}
	for _, c := range all {
		f := labanswer.FindingOf(c, u.Verdicts)
		findings = append(findings, f)
		out.Table = append(out.Table, []string{format.PlainLine(c.Level), c.Metric,
			format.PlainLine(c.Variant),
			format.PlainLine(c.Baseline), comparisonRatio(c), comparisonInterval(c), "", runCounts(c),
			pValueText(c.PAdjusted)})
	}
	if len(u.Verdicts) == 0 {
		return document.Part{Head: "Verdicts", Text: []string{"Nothing could be compared."}}
	}
	out.Text = append(correctionText(u.Verdicts), openTexts(all, findings)...)
	markVerdicts(&out, all, findings)
	return withoutLevels(out)
}

// trialsOf is on how many trials a comparison rests, in words.
func trialsOf(c lab.Comparison) string {
	if c.Against == 0 {
		return format.Plural(int64(c.Trials), "pair")
	}
	return fmt.Sprintf("%s against %s", format.Plural(int64(c.Trials), "run"),
		format.Count(int64(c.Against)))
}

// runCounts is trialsOf in a table.
func runCounts(c lab.Comparison) string {
	if c.Against == 0 {
		return format.Plural(int64(c.Trials), "pair")
	}
	return fmt.Sprintf("%s/%s", format.Count(int64(c.Trials)), format.Count(int64(c.Against)))
}

// groupMedianPart has a row for each group, or arm of it, at each level.
func groupMedianPart(u *judge.Unpaired) document.Part {
	type place struct{ level, name string }
	rows, runs := map[place][]string{}, map[place]int{}
	var places []place
	head := []string{"level", ""}
	for _, c := range u.Cells {
		at := place{c.Level, c.Arm}
		if rows[at] == nil {
			places, rows[at] = append(places, at), []string{format.PlainLine(c.Level),
				format.PlainLine(u.Label(c.Arm))}
		}
		column := slices.Index(head, c.Metric+" ("+c.Unit+")")
		if column < 0 {
			column, head = len(head), append(head, c.Metric+" ("+c.Unit+")")
		}
		for len(rows[at]) < column {
			rows[at] = append(rows[at], "n/a")
		}
		rows[at] = append(rows[at], medianText(c))
		runs[at] = max(runs[at], c.Trials)
	}
	if len(places) == 0 {
		return document.Part{}
	}
	out := document.Part{Head: "Medians", Sides: "llr", Table: format.Table{append(head, "runs")},
		Text: []string{"In brackets is the 95 % interval of a median; it takes 6 runs. " +
			ratioKind(u)}}
	for _, at := range places {
		for len(rows[at]) < len(head) {
			rows[at] = append(rows[at], "n/a")
		}
		out.Table = append(out.Table, append(rows[at], format.Count(int64(runs[at]))))
	}
	return withoutLevels(out)
}

// groupRoutesPart has, for each route, the medians of its measures of streams and of goodput: a
// column for each group, or arm of it at a level.
func groupRoutesPart(u *judge.Unpaired) document.Part {
	type place struct{ level, name string }
	var places []place
	cells := u.RouteCells()
	for _, c := range cells {
		places = appendMissing(places, place{c.Level, c.Arm})
	}
	p := document.Part{Head: "Routes", Sides: "llr"}
	routes, route, metric := 0, "", ""
	for _, c := range cells {
		if c.Route != route {
			routes++
		}
		if routes <= mostRoutes && (c.Route != route || c.Metric != metric) {
			row := []string{format.PlainLine(c.Route), routeMeasureName(c.Metric)}
			for range places {
				row = append(row, "n/a")
			}
			p.Table = append(p.Table, row)
		}
		if route, metric = c.Route, c.Metric; routes <= mostRoutes {
			row := p.Table[len(p.Table)-1]
			row[2+slices.Index(places, place{c.Level, c.Arm})] = routeText(c)
		}
	}
	if p.Table == nil {
		return document.Part{}
	}
	head := []string{"route", ""}
	for _, at := range places {
		name := format.PlainLine(u.Label(at.name))
		if at.level != "" {
			name += " at " + format.PlainLine(at.level)
		}
		head = append(head, name)
	}
	p.Table = append(format.Table{head}, p.Table...)
	p.Text = append([]string{"Medians of the runs, with their 95 % intervals."},
		routesLeft(routes-mostRoutes)...)
	return p
}

// routeText is a median as the table of single runs has values.
func routeText(c judge.RouteCell) string {
	show, v := shownIn(c.Unit), c.Median
	text := format.Known(c.Over, show(v.Estimate))
	if c.Over || !lab.Holds(v) || v.Low == v.High {
		return text
	}
	return fmt.Sprintf("%s [%s, %s]", text, show(v.Low), show(v.High))
}

// ratioKind says what the ratio of a verdict is of: it is not that of the medians below it.
func ratioKind(u *judge.Unpaired) string {
	of := "runs, one of each"
	if u.AreInRounds() {
		of = "trials of a round"
	}
	return "The ratio of a verdict is not that of these medians: it is the middle of the ratios " +
		"of two " + of + "."
}

func medianText(c lab.Cell) string {
	v := c.Median
	if c.Over || !lab.Holds(v) {
		return format.Known(c.Over, format.Digits3(v.Estimate))
	}
	return format.WithInterval(v.Estimate, v.Low, v.High)
}

// withoutLevels is a part without the first column of its table, the level's, if no row has one.
func withoutLevels(p document.Part) document.Part {
	for _, row := range p.Table[1:] {
		if row[0] != "" {
			return p
		}
	}
	for i := range p.Table {
		p.Table[i] = p.Table[i][1:]
	}
	p.Sides = p.Sides[1:]
	return p
}
