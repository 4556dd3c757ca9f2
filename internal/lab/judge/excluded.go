package judge

import (
	"slices"
	"strings"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/say"
)

// A Coverage is how many of an experiment's variants can be compared, and which cannot. Variants
// that --quick leaves out do not count.
type Coverage struct {
	Comparable, Variants int
	NotTested            []string // refused, or not available here
	Failed               []string // in each of their trials
}

// CoverageOf counts the variants.
func CoverageOf(r *lab.Record) Coverage {
	c := Coverage{Comparable: countComparable(r), Variants: countWanted(r)}
	for _, a := range r.Arms {
		if !a.Control && !a.LeftOut && !isLoaded(a) {
			c.NotTested = append(c.NotTested, a.Name)
		}
	}
	for _, f := range FailedArms(r) {
		c.Failed = append(c.Failed, f.Variant)
	}
	return c
}

// String is "7 of 8 variants can be compared".
func (c Coverage) String() string { return say.Coverage(c.Comparable, c.Variants) }

// countWanted counts the variants that --quick does not leave out.
func countWanted(r *lab.Record) (n int) {
	for _, a := range r.Arms {
		if !a.Control && !a.LeftOut {
			n++
		}
	}
	return n
}

// isLoaded reports whether an arm is not excluded.
func isLoaded(a lab.Arm) bool { return len(a.Missing) == 0 && a.Unfit == "" }

// countComparable counts the variants that can be compared: each that has a baseline, the
// baselines, and each whose factors are compared. One that failed in all its trials cannot be. If
// the experiment has ended, neither can two that have no round in which both measured something.
func countComparable(r *lab.Record) int {
	left := map[string]bool{}
	for _, a := range r.Arms {
		left[a.Name] = isLoaded(a)
	}
	for _, f := range FailedArms(r) {
		left[f.Variant] = false
	}
	measured := measuredPlaces(r)
	paired := map[string]bool{}
	pair := func(variant, baseline string) {
		meet := !hasEnded(r) || len(r.Trials) == 0
		for at := range measured[variant] {
			meet = meet || measured[baseline][at]
		}
		if left[variant] && left[baseline] && meet {
			paired[variant], paired[baseline] = true, true
		}
	}
	for _, a := range r.Arms {
		if !a.Control && a.Baseline != "" {
			pair(a.Name, a.Baseline)
		}
	}
	for _, c := range contrastsOf(r) {
		for _, p := range c.Pairs {
			pair(p.Variant, p.Baseline)
		}
	}
	return len(paired)
}

// Unloaded explains how many variants can be compared, why the others are not tested or measured
// nothing, and what the user can do about it; "" if all can be.
func Unloaded(r *lab.Record) string {
	return strings.Join(Cautions(coverageFacts(r)), "")
}

// coverageFacts are the one fact about variants that cannot be compared; none if all can be.
func coverageFacts(r *lab.Record) []fact.Fact {
	args := notCompared(r)
	if !args.Unpaired && len(args.NotTested)+len(args.Failed) == 0 {
		return nil
	}
	return []fact.Fact{warn(args, fact.Scope{})}
}

// notCompared is how many variants can be compared, and why the others cannot.
func notCompared(r *lab.Record) fact.NotCompared {
	c := CoverageOf(r)
	args := fact.NotCompared{Comparable: c.Comparable, Variants: c.Variants}
	for _, a := range r.Arms {
		if !a.Control && !a.LeftOut && !isLoaded(a) {
			args.NotTested = append(args.NotTested, fact.NotTested{Variant: a.Name, Missing: a.Missing,
				Why: JoinLines(a.Unfit), Remedy: a.Remedy})
		}
	}
	args.Failed = FailedArms(r)
	args.Unpaired = len(args.NotTested)+len(args.Failed) == 0 && LeavesNothing(r)
	return args
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
		return !a.Control && !a.LeftOut && !isLoaded(a)
	})
}

// LeavesNothing reports whether so many variants cannot be loaded, or failed in all their trials,
// that no comparison is left. It is false for an experiment of one variant.
func LeavesNothing(r *lab.Record) bool { return countWanted(r) > 1 && countComparable(r) == 0 }
