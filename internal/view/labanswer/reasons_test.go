package labanswer

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/view/answer"
)

// Reasons that differ in amounts alone are one, with their range.
func TestMostFrequent(t *testing.T) {
	for _, c := range []struct {
		counted map[string]int
		want    []string
	}{
		{map[string]int{"the host took 6.2 % of its time": 1, "the host took 15.9 % of its time": 2,
			"no steady state": 2},
			[]string{"3 trials: the host took 6.2 to 15.9 % of its time", "2 trials: no steady state"}},
		{map[string]int{"its status was 200 and is 404": 1, "its status was 200 and is 503": 1}, // codes
			[]string{"1 trial: its status was 200 and is 404", "1 trial: its status was 200 and is 503"}},
		{map[string]int{"nothing": 1}, []string{"1 trial: nothing"}},
	} {
		if all := mostFrequent(c.counted); !slices.Equal(all, c.want) {
			t.Errorf("%v: %q", c.counted, all)
		}
	}
}

// An experiment about the generator alone has its sentence as the answer, and as no caution.
func TestSentenceOfGenerators(t *testing.T) {
	f := fact.Fact{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.GeneratorChoice{Metric: "throughput",
		Setting: "epoll", Percent: 14, Low: 9, High: 20}}
	const says = "the choice of generator moves throughput of go at c16 by 14 % [9, 20] (epoll)"
	r := &lab.Record{}
	r.Facts, r.Sensitive = []fact.Fact{f}, &lab.Sensitivity{Sentence: says, Fact: &f}
	r.Verdicts = []lab.Comparison{{Control: true}}
	if s := sentenceOf(r, answer.Answer{}); s != "T"+says[1:] {
		t.Errorf("%q", s)
	}
	all := append(uncomparedCautions(r, nil), storedCautions(r, nil)...)
	if len(all) != 0 {
		t.Errorf("%+v", all)
	}
	r.Verdicts = append(r.Verdicts, lab.Comparison{Variant: "other"}) // now it is one of the cautions
	if all := storedCautions(r, nil); len(all) != 1 || !strings.Contains(all[0].Says, "14 %") {
		t.Errorf("%+v", all)
	}
}
