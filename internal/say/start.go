package say

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dyno/internal/fact"
)

// Start is Sentence as a text begins with it: in a capital letter, unless it begins with a name.
func Start(f fact.Fact) string {
	s := Sentence(f)
	if slices.ContainsFunc(namesOf(f), func(name string) bool {
		rest, begins := strings.CutPrefix(s, name)
		return name != "" && begins && (rest == "" || strings.ContainsAny(rest[:1], " :,"))
	}) {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// namesOf are the names with which the sentence of a fact may begin.
func namesOf(f fact.Fact) []string {
	at := f.Scope
	all := []string{at.Group, at.Variant, at.Agent, at.Address}
	switch a := f.Args.(type) {
	case fact.ProxyUnused:
		return append(all, a.Variable)
	case fact.ProgramChanged:
		return append(all, a.Program)
	case fact.SelfDiffers:
		return append(all, a.Metric)
	case fact.MetricLacking:
		return append(all, a.Metric)
	case fact.PooledPercentile:
		return append(all, percentile(a))
	case fact.ServerKilled:
		return append(all, a.Process)
	case fact.Told:
		return append(all, a.Text) // as it was
	}
	return all
}
