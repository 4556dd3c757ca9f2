package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// unusedFaults are the data and the variables of the command line that no hole uses: a column or a
// variable is then most likely spelled as in another tool, and what was meant would be sent as it
// stands. A file of variables may have more than a run uses, and so may a file of data. There are
// none if others are known, from which these may follow.
func (f *runFlags) unusedFaults(others []error) (faults []error) {
	v := &f.filling
	if len(others) > 0 || len(f.hurlFiles) > 0 {
		return nil
	}
	fault := func(flag, format string, args ...any) {
		faults = append(faults, loadplan.Flaw{Setting: flag, Problem: fmt.Sprintf(format, args...)})
	}
	used := func(name string) bool { return v.names.Used[name] }
	misspelt := 0
	for _, name := range v.names.Columns {
		if used(name) {
			continue
		}
		if text := f.foreignHole(name); text != "" {
			misspelt++
			fault("--data", "column %s: %s would be sent as it is; write {{%s}}", name, text, name)
		}
	}
	if v.table != nil && misspelt == 0 && !slices.ContainsFunc(v.names.Columns, used) {
		most := v.names.Columns[:min(len(v.names.Columns), mostColumns)]
		fault("--data", "no request uses a column of %s; write {{%s}} where a value is to stand", v.file,
			strings.Join(most, "}}, {{"))
	}
	for _, name := range slices.Sorted(maps.Keys(v.variables)) {
		if used(name) {
			continue
		}
		switch text := f.foreignHole(name); {
		case text != "":
			fault("--variable", "%s: %s would be sent as it is; write {{%s}}", name, text, name)
		case v.flagged[name]:
			fault("--variable", "%s: no request uses it; write {{%s}} where it is to stand, or leave it out",
				name, name)
		}
	}
	return faults
}

// mostColumns is how many columns a message lists.
const mostColumns = 6

// searched is in how many requests foreignHole looks at most.
const searched = 1000

// foreignHole is a place of the requests in which another tool would put the value of that name; ""
// if there is none.
func (f *runFlags) foreignHole(name string) string {
	for _, form := range []string{"${%s}", "{%s}", "%%(%s)s", "%%7B%s%%7D"} {
		text := fmt.Sprintf(form, name)
		for i := range f.plan.Requests[:min(len(f.plan.Requests), searched)] {
			r := f.plan.Requests[i].Written()
			has := func(s string) bool { return strings.Contains(withoutEscapes.Replace(s), text) }
			if has(r.Path) || has(string(r.Body)) || slices.ContainsFunc(r.Header,
				func(h proto.Field) bool { return has(h.Value) }) {
				return text
			}
		}
	}
	return ""
}

// withoutEscapes removes what \{{ stands for, which is meant as it is.
var withoutEscapes = strings.NewReplacer(`\{{`, "", "{{", "")
