package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/hole"
)

// unusedFaults are the data and the variables of the command line that no hole uses: a column or a
// variable is then most likely spelled as in another tool, and what was meant would be sent as it
// stands. Where some are used, the others may be more than a run needs; then only ${name} and
// %(name)s are mistakes, for {name} stands in JSON and GraphQL. There are none if others are known,
// from which these may follow.
func (f *runFlags) unusedFaults(others []error) (faults []error) {
	v := &f.filling
	if len(others) > 0 || len(f.hurlFiles) > 0 || v.table == nil && len(v.variables) == 0 {
		return nil
	}
	fault := func(flag, format string, args ...any) {
		faults = append(faults, loadplan.Flaw{Setting: flag, Problem: fmt.Sprintf(format, args...)})
	}
	forms := []string{"${%s}", "%%(%s)s"}
	unused := len(v.names.Used) == 0
	if unused {
		forms = append(forms, "{%s}", "%%7B%s%%7D")
	}
	texts := f.sentTexts()
	for _, name := range v.names.Columns {
		if text := foreignHole(name, forms, texts); text != "" && !v.names.Used[name] {
			fault("--data", "column %s: %s would be sent as it is; write {{%s}}", name, text, name)
		}
	}
	variables := slices.Sorted(maps.Keys(v.variables))
	for _, name := range variables {
		if text := foreignHole(name, forms, texts); text != "" && !v.names.Used[name] {
			fault("--variable", "%s: %s would be sent as it is; write {{%s}}", name, text, name)
		}
	}
	if !unused || len(faults) > 0 {
		return faults
	}
	if v.table != nil {
		most := v.names.Columns[:min(len(v.names.Columns), mostColumns)]
		fault("--data", "no request uses a column of %s; write {{%s}} where a value is to stand", v.file,
			strings.Join(most, "}}, {{"))
	}
	for _, name := range variables {
		if v.flagged[name] {
			fault("--variable", "%s: no request uses it; write {{%s}} where it is to stand, or leave it out",
				name, name)
		}
	}
	return faults
}

// mostColumns is how many columns a message lists.
const mostColumns = 6

// What is searched for other tools' holes: so many requests, and so much of each text.
const (
	searched     = 1000
	searchedText = 1 << 20 // bytes
)

// sentTexts are the texts of the requests between holes and braces that are meant as they are.
func (f *runFlags) sentTexts() (all []string) {
	add := func(s string) {
		for p := range hole.Pieces(s[:min(len(s), searchedText)]) {
			if p.Kind == hole.Literal {
				all = append(all, p.Text)
			}
		}
	}
	for i := range f.plan.Requests[:min(len(f.plan.Requests), searched)] {
		r := f.plan.Requests[i].Written()
		add(r.Path)
		add(string(r.Body))
		for _, h := range r.Header {
			add(h.Value)
		}
	}
	return all
}

// foreignHole is a place of the texts in which another tool would put the value of that name; "" if
// there is none.
func foreignHole(name string, forms, texts []string) string {
	for _, form := range forms {
		hole := fmt.Sprintf(form, name)
		if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, hole) }) {
			return hole
		}
	}
	return ""
}
