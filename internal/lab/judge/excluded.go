package judge

import (
	"dyno/internal/lab"
	"fmt"
	"slices"
	"strings"
)

// countWanted counts the variants that --quick does not leave out.
func countWanted(r *lab.Record) (n int) {
	for _, a := range r.Arms {
		if !a.Control && !a.LeftOut {
			n++
		}
	}
	return n
}

// countComparable counts the variants that can be compared: each that has a baseline, the
// baselines, and each whose factors are compared.
func countComparable(r *lab.Record) int {
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
	for _, c := range contrastsOf(r) {
		for _, p := range c.Pairs {
			paired[p.Variant], paired[p.Baseline] = true, true
		}
	}
	return len(paired)
}

// Unloaded explains how many variants can be compared, why the others are not tested, and what the
// user can do about it; "" if all are loaded.
func Unloaded(r *lab.Record) string {
	var why []string
	for _, a := range r.Arms {
		switch {
		case a.Control || a.LeftOut:
		case len(a.Missing) > 0:
			why = append(why, fmt.Sprintf("%s is not available here: %s", a.Name,
				strings.Join(a.Missing, "; ")))
		case a.Unfit != "" && a.Remedy != "":
			why = append(why, fmt.Sprintf("%s is not tested: %s (%s)", a.Name, JoinLines(a.Unfit),
				a.Remedy))
		case a.Unfit != "":
			why = append(why, fmt.Sprintf("%s is not tested: %s", a.Name, JoinLines(a.Unfit)))
		}
	}
	if len(why) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d variants can be compared: %s", countComparable(r), countWanted(r),
		strings.Join(why, "; "))
}

// JoinLines joins the lines of a text into one, because messages of servers may have several.
func JoinLines(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " | ")
}

// BreaksScreening reports whether a screening lacks a variant. Then none of its effects is free of
// the others.
func BreaksScreening(r *lab.Record) bool {
	if r.Experiment == nil || !r.Experiment.Design.Screen {
		return false
	}
	return slices.ContainsFunc(r.Arms, func(a lab.Arm) bool {
		return !a.Control && !a.LeftOut && (len(a.Missing) > 0 || a.Unfit != "")
	})
}

// LeavesNothing reports whether so many variants cannot be loaded that no comparison is left. It is
// false for an experiment of one variant.
func LeavesNothing(r *lab.Record) bool { return countWanted(r) > 1 && countComparable(r) == 0 }
