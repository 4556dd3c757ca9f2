package judge

import (
	"dyno/internal/lab"
	"fmt"
	"slices"
	"strings"
)

// A Coverage is how many of an experiment's variants can be compared, and which cannot. Variants
// that --quick leaves out do not count.
type Coverage struct {
	Comparable, Variants int
	NotTested            []string // refused, or not available here
	Failed               []string // in each of their trials
}

// CoverageOf counts the variants.
func CoverageOf(r *lab.Record) (c Coverage) {
	measured := map[string]bool{}
	for _, a := range r.Arms {
		switch {
		case a.Control || a.LeftOut:
		case len(a.Missing) > 0 || a.Unfit != "":
			c.NotTested = append(c.NotTested, a.Name)
		case len(FailuresOf(r, a.Name)) > 0:
			c.Failed = append(c.Failed, a.Name)
		default:
			measured[a.Name] = true
		}
	}
	c.Comparable, c.Variants = countPaired(r, measured), countWanted(r)
	return c
}

// String is "7 of 8 variants can be compared".
func (c Coverage) String() string {
	return fmt.Sprintf("%d of %d variants can be compared", c.Comparable, c.Variants)
}

// FailuresOf are the failures of an arm that failed in each of its trials; none of another.
func FailuresOf(r *lab.Record, arm string) (all []*lab.Failure) {
	for _, t := range r.Trials {
		switch {
		case t.Arm != arm:
		case t.Failure == nil:
			return nil
		default:
			all = append(all, t.Failure)
		}
	}
	return all
}

// countWanted counts the variants that --quick does not leave out.
func countWanted(r *lab.Record) (n int) {
	for _, a := range r.Arms {
		if !a.Control && !a.LeftOut {
			n++
		}
	}
	return n
}

// countLoadable counts the variants that can be compared once they are loaded.
func countLoadable(r *lab.Record) int {
	loaded := map[string]bool{}
	for _, a := range r.Arms {
		loaded[a.Name] = len(a.Missing) == 0 && a.Unfit == ""
	}
	return countPaired(r, loaded)
}

// countPaired counts the variants of which some are measured: each that has a baseline that is
// measured, the baselines, and each whose factors are compared.
func countPaired(r *lab.Record, measured map[string]bool) int {
	paired := map[string]bool{}
	for _, a := range r.Arms {
		if !a.Control && measured[a.Name] && a.Baseline != "" && measured[a.Baseline] {
			paired[a.Name], paired[a.Baseline] = true, true
		}
	}
	for _, c := range contrastsOf(r) {
		for _, p := range c.Pairs {
			if measured[p.Variant] && measured[p.Baseline] {
				paired[p.Variant], paired[p.Baseline] = true, true
			}
		}
	}
	return len(paired)
}

// Unloaded explains how many variants can be compared, why the others are not tested or measured
// nothing, and what the user can do about it; "" if each was measured.
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
		default:
			if all := FailuresOf(r, a.Name); len(all) > 0 {
				why = append(why, fmt.Sprintf("%s failed in each of %d trials: %s: %s", a.Name, len(all),
					all[0].Phase, JoinLines(all[0].Reason)))
			}
		}
	}
	if len(why) == 0 {
		return ""
	}
	return CoverageOf(r).String() + ": " + strings.Join(why, "; ")
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
func LeavesNothing(r *lab.Record) bool { return countWanted(r) > 1 && countLoadable(r) == 0 }
