package result

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/say"
)

// reworded are the sentences of which an older dyno had other words.
var reworded = []struct{ was, is string }{
	{`; that delayed up to (\S+ %) of the requests, and counts as their latency; repeat it$`,
		"; the delay is in the latency of up to $1 of the requests; measure again"},
	{`no CPU; repeat it$`, "no CPU; measure again"},
	{`; it takes at least 100 answers`, "; a verdict takes at least 100 answers"},
	{`^(too short to judge: (?:\d{3}|\d,\d{3}) answers.*; a verdict takes )at least 100 answers and a `,
		"${1}a "},
	{`percentiles, and it takes at`, "percentiles, which take at"},
	{`a part of the run that was planned$`, "a part of the planned run"},
	{` due and never sent, and (\S+) sent`, " due but never sent, and $1 were sent"},
	{` GET, because (.*) before a byte of the answer`, " GET ($1 before the answer began)"},
	{`\b1 answers \((.*)\) were errors`, "1 answer ($1) was an error"},
	{`stood still for (\S+ \S+), from (.*) of the window on, and for (.*) in all: it was stopped, or had no CPU`,
		"stood still several times, for $3 in all, because it was stopped or had no CPU; the longest stop took $1 and began $2 into the window"},
	{`stood still for (\S+ \S+), from (.*) of the window on: it was stopped, or had no CPU`,
		"stood still for $1, $2 into the window, because it was stopped or had no CPU"},
	{`(latency|gaps|first event) \(mean ([^)]*)\)`, "$1, whose mean is $2"},
	{` late, which counts as latency, whose mean is ([^;]*)`, " late: the latency (mean $1) contains this delay"},
	{`^interrupted after (.*): this is a part`, "the run was interrupted after $1: this is only a part"},
	{`^arrivals were not evenly spaced: 1 span in 20 was off`, "requests did not start evenly spaced: 1 in 20 of the gaps between them was off"},
	{`^arrivals were not Poisson: .* A² is (\S+) for (\S+) spans, .*?times`, "requests did not start at random times (Poisson): A² (Anderson-Darling) of the $2 " +
		"gaps between them is $1; with true Poisson arrivals it is above 6.0 in 1 of 1,000 runs"},
	{`the highest latencies may be its own$`, "the highest latencies may contain this delay"},
	{`check ([^,]*?): answered (\d+)`, `check "$1" failed, status $2`},
	{`, check ([^")]*)\)`, `; check "$1" failed)`},
	{`(errors?) \((\d{3})`, "$1 (status $2"},
	{`(status \d{3}), check`, "$1; check"},
	{`\(33.33 %\)`, "(33 %)"}, {`\.00 %\)`, " %)"},
	{`answer(s?) \((\S+) %\) (were errors|was an error) \((.*)\): latency leaves them out, error latency has them`,
		"answer$1 ($2 %) $3, which the latency leaves out: $4"},
	{`^by rate × mean latency, (.* of the time): in the rest they`, "$1, as rate × mean latency shows (Little's law): the rest of the time they"},
}

func asWorded(all []string) []string {
	now := slices.Clone(all)
	for i := range now {
		for _, r := range reworded {
			now[i] = regexp.MustCompile(r.was).ReplaceAllString(now[i], r.is)
		}
	}
	return now
}

// The reasons and warnings that an older dyno stored as sentences are said alike of the facts found in
// the same result, by judging it again.
func TestReasonsAsStored(t *testing.T) {
	files, err := filepath.Glob("../cli/net/testdata/stored/runs/*.json")
	reasons, warned := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if r.Fleet != nil {
			continue // its parts are not stored
		}
		_, none, _ := fact.Find[fact.NoServer](r.Facts)
		if none.WindowUS == 0 && slices.ContainsFunc(r.Generator.Doubts, func(d Doubt) bool { return d.Cause == NoServer }) {
			continue // which is said otherwise since it is a fact
		}
		for _, f := range cautions(r) { // what is advised may have changed
			if text := say.Sentence(f); !strings.Contains(strings.Join(asWorded(r.Warnings), "\n")+"\n", text) {
				t.Errorf("%s: %q is none of %q", filepath.Base(file), text, r.Warnings)
			}
			warned++
		}
		r.Generator.Reasons = asWorded(r.Generator.Reasons)
		before := r.Generator
		if r.judgeGenerator(); !reflect.DeepEqual(r.Generator, before) {
			t.Errorf("%s:\n%q\n%q", filepath.Base(file), before.Reasons, r.Generator.Reasons)
		}
		if reasons += len(before.Reasons); len(r.ReasonFacts()) != len(before.Reasons) {
			t.Errorf("%s: %d of %d reasons are facts", filepath.Base(file), len(r.ReasonFacts()), len(before.Reasons))
		}
	}
	if err != nil || reasons < 20 || warned < 8 {
		t.Errorf("%d reasons and %d warnings in %d files, %v", reasons, warned, len(files), err)
	}
}
