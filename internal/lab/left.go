package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dyno/internal/fairness"
)

// ErrNothingLeft is that of an experiment of several variants of which no two can be compared.
var ErrNothingLeft = errors.New("nothing is left to compare")

// left is ErrNothingLeft, with what can be done for each variant, if so many cannot be loaded that
// there is no comparison. An experiment of one variant has none to lose.
func (r *running) left() error {
	if all, some := r.record.wanted(), r.record.comparable(); all < 2 || some > 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", r.record.unloaded(), ErrNothingLeft)
}

// wanted is how many variants there are that --quick does not leave out.
func (r *Record) wanted() (n int) {
	for _, a := range r.Arms {
		if !a.Control && !a.LeftOut {
			n++
		}
	}
	return n
}

// comparable is how many variants can be compared: each that has a baseline, and these.
func (r *Record) comparable() int {
	loaded := map[string]bool{}
	for _, a := range r.Arms {
		loaded[a.Name] = len(a.Missing) == 0 && a.Unfit == ""
	}
	paired := map[string]bool{}
	for _, a := range r.Arms {
		if !a.Control && loaded[a.Name] && a.Baseline != "" && loaded[a.Baseline] {
			paired[a.Name], paired[a.Baseline] = true, true
		}
	}
	return len(paired)
}

// unloaded says how many variants can be compared, why the others are not loaded, and what
// can be done about it; "" if all are.
func (r *Record) unloaded() string {
	var why []string
	for _, a := range r.Arms {
		switch {
		case a.Control || a.LeftOut:
		case len(a.Missing) > 0:
			why = append(why, fmt.Sprintf("%s is not available here: %s", a.Name,
				strings.Join(a.Missing, "; ")))
		case a.Unfit != "" && a.Remedy != "":
			why = append(why, fmt.Sprintf("%s is not loaded: %s (%s)", a.Name, oneLine(a.Unfit),
				a.Remedy))
		case a.Unfit != "":
			why = append(why, fmt.Sprintf("%s is not loaded: %s", a.Name, oneLine(a.Unfit)))
		}
	}
	if len(why) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d variants can be compared: %s", r.comparable(), r.wanted(),
		strings.Join(why, "; "))
}

// allowing is how what an arm's answers differ in can be left out of account: by the fewest
// aspects, for of the others some follow from these.
func (r *running) allowing(name string, asked []fairness.Asked) string {
	reference := r.record.Fairness.Reference
	violates := func(aspects []string) (all []string) {
		allow := slices.Concat(r.Experiment.Fairness.Allow, aspects)
		for _, v := range fairness.Compare(reference, asked, allow).Violations() {
			if v.Variant == name {
				all = append(all, v.Aspect)
			}
		}
		return all
	}
	aspects := violates(nil)
	for i := len(aspects) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(aspects), i, i+1); len(violates(fewer)) == 0 {
			aspects = fewer
		}
	}
	const warn = "fairness: {mode: warn}"
	if len(violates(aspects)) > 0 {
		return "to compare it all the same, write " + warn + " in the file"
	}
	return fmt.Sprintf("to compare it all the same, write %s in the file, or add %s to what "+
		"fairness allows, as allow: [%s]", warn, strings.Join(aspects, ", "),
		strings.Join(slices.Concat(r.Experiment.Fairness.Allow, aspects), ", "))
}
