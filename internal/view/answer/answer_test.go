package answer

import (
	"strings"
	"testing"
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
	got := a.Markdown("dyno lab run x")
	for _, want := range []string{"**b is faster**", `b\|c`, "−35 %", "better", "| d | – | – |", "not loaded",
		"limit (throughput at c1)", "2 CPUs; 6 rounds", "`dyno lab run x`"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not have %q:\n%s", want, got)
		}
	}
	if got := (Answer{Sentence: "nothing"}).Markdown(""); strings.Contains(got, "|") {
		t.Errorf("a table of nothing:\n%s", got)
	}
}
