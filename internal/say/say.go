// Package say has the sentences for facts. A sentence holds wherever the load is described; what to
// do about it is said in the words of whoever described the load (Voice).
//
//	advice.go    remedies, and what settings are called in each voice
//	say.go       the catalogue: kind → sentence
package say

import (
	"fmt"
	"strconv"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// Sentence says what is so, in one line without a full stop.
func Sentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.Steal:
		return fmt.Sprintf("the hypervisor gave %.1f %% of the CPUs' time to others: repeat it, or "+
			"use a machine of its own", a.Percent)
	case fact.StoodStill:
		return standstillSentence(a)
	case fact.ApplicationStderr:
		return fmt.Sprintf("the application wrote %s bytes to stderr, first: %s",
			digits.Thousands(strconv.FormatInt(a.Bytes, 10)), a.First)
	}
	return "a newer dyno found: " + string(f.Kind())
}

// Text is the sentence with what can be done.
func Text(f fact.Fact, v Voice) string {
	if advice := Advice(f.Remedies, v); advice != "" {
		return Sentence(f) + "; " + advice
	}
	return Sentence(f)
}

// standstillSentence says for how long the generator stood still, since when, and how many requests
// that delayed.
func standstillSentence(a fact.StoodStill) string {
	s := fmt.Sprintf("the generator stood still for %s, from %s of the window on",
		digits.Micros(a.LongestUS), digits.Micros(a.SinceS*1e6))
	if a.TotalUS > 1.01*a.LongestUS {
		s += fmt.Sprintf(", and for %s in all", digits.Micros(a.TotalUS))
	}
	s += ": it was stopped, or had no CPU"
	if a.Delayed > 0 {
		s += fmt.Sprintf("; that delayed up to %s %% of the requests, and counts as their latency",
			digits.Significant(a.Delayed, 2))
	}
	return s + "; repeat it"
}
