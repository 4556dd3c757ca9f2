package labanswer

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/view/format"
)

// A reason is one that several trials have, in words that differ in one figure at most.
type reason struct {
	text      string // of the first trial
	from, to  int    // where the figure stands in text; equal if there is none
	low, high string // the least and the greatest figure
	trials    int
}

// figure is a decimal number in a text, with commas between thousands.
var figure = regexp.MustCompile(`\d[\d,]*(\.\d+)?`)

// unit is what stands behind a figure that is an amount, and no name as a status or a port is.
var unit = regexp.MustCompile(`^ (?:%|(?:ms|µs|s|times|bytes)\b)`)

// mostFrequent are the reasons of trials, the most frequent first: "4 trials: the machine's host
// took 5.7 to 15.9 % of its time". counted says how many trials have which text.
func mostFrequent(counted map[string]int) (all []string) {
	texts := make([]string, 0, len(counted))
	for text := range counted {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	var reasons []*reason
	for _, text := range texts {
		i := slices.IndexFunc(reasons, func(r *reason) bool { return r.joins(text) })
		if i < 0 {
			r := &reason{text: text}
			reasons, i = append(reasons, r), len(reasons)
		}
		reasons[i].trials += counted[text]
	}
	slices.SortStableFunc(reasons, func(a, b *reason) int { return cmp.Compare(b.trials, a.trials) })
	for _, r := range reasons {
		all = append(all, format.Plural(int64(r.trials), "trial")+": "+r.String())
	}
	return all
}

// joins reports whether text has the words of r and differs in the same figure. r then covers it.
func (r *reason) joins(text string) bool {
	ours, theirs := figure.FindAllStringIndex(r.text, -1), figure.FindAllStringIndex(text, -1)
	words := func(s string) string { return figure.ReplaceAllString(s, "#") }
	if len(ours) != len(theirs) || words(r.text) != words(text) {
		return false
	}
	differ, at := 0, 0
	for i, o := range ours {
		if t := theirs[i]; r.text[o[0]:o[1]] != text[t[0]:t[1]] {
			differ, at = differ+1, i
		}
	}
	o := ours[at]
	if differ != 1 || r.to > 0 && r.from != o[0] || !unit.MatchString(r.text[o[1]:]) {
		return false
	}
	given := text[theirs[at][0]:theirs[at][1]]
	if r.to == 0 {
		r.from, r.to, r.low, r.high = o[0], o[1], r.text[o[0]:o[1]], r.text[o[0]:o[1]]
	}
	if number(given) < number(r.low) {
		r.low = given
	}
	if number(given) > number(r.high) {
		r.high = given
	}
	return true
}

// String is the reason with the range of its figure.
func (r *reason) String() string {
	if r.to == 0 {
		return r.text
	}
	return r.text[:r.from] + r.low + " to " + r.high + r.text[r.to:]
}

// number is the value of a figure.
func number(s string) float64 {
	f, _ := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	return f
}
