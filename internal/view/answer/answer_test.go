package answer

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/view/document"
)

// The box is the worst of the cautions, and clear only without any.
func TestBoxIsOfTheCautions(t *testing.T) {
	note, doubt, bad := Caution{Severity: Note, Says: "a note"}, Caution{Severity: Doubt, Says: "a doubt"},
		Caution{Severity: Bad, Says: "bad"}
	for _, c := range []struct {
		cautions []Caution
		box      Severity
		text     string
	}{
		{nil, Clear, "fine"},
		{[]Caution{note}, Note, "a note"},
		{[]Caution{note, doubt}, Doubt, "a doubt"},
		{[]Caution{doubt, note, bad, note}, Bad, "bad"},
	} {
		a := Answer{Cautions: c.cautions}
		a.Judge("fine")
		if a.Box != c.box || a.BoxText != c.text {
			t.Errorf("%v: the box is %s: %s", c.cautions, a.Box, a.BoxText)
		}
		for i := range a.Cautions[min(1, len(a.Cautions)):] {
			if a.Cautions[i].Severity.rank() < a.Cautions[i+1].Severity.rank() {
				t.Errorf("%v are not sorted", a.Cautions)
			}
		}
	}
}

// A summary has the sentence, a row for each variant, refused ones too, each caution with its scope,
// and what the answer holds for.
func TestMarkdown(t *testing.T) {
	a := Answer{Sentence: "b is faster", Conditions: []string{"2 CPUs", "6 rounds"},
		Groups: []Group{{Name: "CPU per request", Findings: []Finding{{Variant: "b|c", Value: "1.00 µs",
			Effect: "−35 %", Interval: "[−45, −15]", Verdict: Better}}}},
		NotLoaded: []Finding{{Variant: "d", Verdict: Refused}},
		Cautions:  []Caution{{Says: "The generator was at its limit", Scope: "throughput at c1"}}}
	got := a.Markdown("dyno lab run x", Limits{})
	for _, want := range []string{"**b is faster**", `b\|c`, "−35 %", "better", "| d | – | – |", "not tested",
		"limit (throughput at c1)", "2 CPUs; 6 rounds", "`dyno lab run x`"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not have %q:\n%s", want, got)
		}
	}
	if got := (Answer{Sentence: "nothing"}).Markdown("", Limits{}); strings.Contains(got, "|") {
		t.Errorf("a table of nothing:\n%s", got)
	}
}

// A card has three lines: the sentence, the worst doubt that the sentence does not say, and what is next. It opens to the rest,
// each once.
func TestCard(t *testing.T) {
	a := Answer{Sentence: "half failed", Conditions: []string{"2 CPUs"}, Next: Step{Says: "look", Short: "see", Command: "dyno x"},
		Cautions: []Caution{{Severity: Bad, Says: "half failed", Said: true}, {Severity: Doubt, Says: "it is late", Remedy: "wait"},
			{Severity: Doubt, Says: "it is short"}, {Severity: Note, Says: "one run"}}}
	text := func(rows []document.Row) (said []string) {
		for _, r := range rows {
			said = append(said, r.Name+" "+r.Text)
		}
		return said
	}
	lines, more := a.Card()
	if got := text(lines); !slices.Equal(got, []string{" half failed", "caution it is late; wait", "next see"}) {
		t.Errorf("%q", got)
	}
	if got := text(more); !slices.Equal(got, []string{"caution it is short", "caution one run", "holds for 2 CPUs"}) {
		t.Errorf("%q", got)
	}
	if lines, more := (Answer{Sentence: "fine", Cautions: a.Cautions[3:]}).Card(); len(lines) != 1 || len(more) != 1 {
		t.Errorf("%+v, %+v", lines, more)
	}
	if got := a.Markdown("", Limits{}); strings.Count(got, "half failed") != 1 || !strings.Contains(got, "- it is late") {
		t.Error(got)
	}
}

// A table that has room for few rows has the largest differences, and says how many are left out; so
// does a list of cautions, each with its first reason.
func TestLimits(t *testing.T) {
	var all []Finding
	for i := range 9 {
		all = append(all, Finding{Variant: "same", Verdict: Same, Ratio: 1 + float64(i)/1e3})
	}
	all = append([]Finding{{Variant: "best", Verdict: Better, Ratio: 0.5}}, all...)
	all = append(all, Finding{Variant: "bad", Verdict: Worse, Ratio: 1.2}, Finding{Variant: "worst", Verdict: Worse, Ratio: 1.43})
	if got := Shown(all, 4); !slices.Equal(got, []int{0, 1, 10, 11}) {
		t.Error(got)
	}
	if got := Shown(all, 2); !slices.Equal(got, []int{0, 11}) {
		t.Error(got)
	}
	if got := Shown(all, 0); len(got) != len(all) || !slices.IsSorted(got) {
		t.Error(got)
	}
	a := Answer{Groups: []Group{{Findings: all}}, Cautions: []Caution{{Says: "Objectives were missed",
		Reasons: []string{"p99 of b", "p99 of c"}}, {Says: "second"}, {Says: "third"}}}
	got := a.Markdown("", Limits{Rows: 4, Cautions: 1, More: "dyno x"})
	for _, want := range []string{"| worst |", "| bad |", "| best |", "and 8 variants more: `dyno x`",
		"Objectives were missed: p99 of b; and 1 more", "and 2 cautions more: `dyno x`"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not have %q:\n%s", want, got)
		}
	}
}
