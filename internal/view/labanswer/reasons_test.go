package labanswer

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/say"
	"dyno/internal/view/answer"
)

// Reasons that differ in amounts alone are one, with their range, in so many trials. Those of an older dyno are texts.
func TestDoubts(t *testing.T) {
	of := func(args fact.Args) lab.Reason {
		f := fact.Fact{Args: args}
		return lab.Reason{Says: say.Sentence(f), Fact: &f}
	}
	host := func(percent float64) lab.Reason { return of(fact.MachineShare{By: fact.ByHost, Percent: percent}) }
	for _, c := range []struct {
		trials [][]lab.Reason
		want   []string
	}{
		{[][]lab.Reason{{of(fact.SecondsShow{What: "no steady state"}), host(6.2)}, {host(15.9), host(7)}, {host(9)}},
			[]string{"3 trials: the hypervisor took 6.2 to 16 % of the CPUs' time", "1 trial: the trial's throughput, second by second, shows no steady state"}},
		{[][]lab.Reason{{of(fact.AnswerChanged{Aspect: "status", Before: "200", After: "404"})},
			{of(fact.AnswerChanged{Aspect: "status", Before: "200", After: "503"})}},
			[]string{"1 trial: after the load the server answers otherwise: status was 200 and is 404",
				"1 trial: after the load the server answers otherwise: status was 200 and is 503"}},
		{[][]lab.Reason{{{Says: "busy 5 %"}}, {{Says: "busy 6 %"}}, {{Says: "busy 6 %"}}}, []string{"2 trials: busy 6 %", "1 trial: busy 5 %"}},
	} {
		var doubts Doubts
		for i, trial := range c.trials {
			for _, why := range trial {
				doubts.Add(i, why)
			}
		}
		if all := doubts.lines(); !slices.Equal(all, c.want) {
			t.Errorf("%q", all)
		}
	}
}

// An experiment about the generator alone has its sentence as the answer, and as no caution.
func TestSentenceOfGenerators(t *testing.T) {
	f := fact.Fact{Scope: fact.Scope{Variant: "go", Level: "c16"}, Args: fact.GeneratorChoice{Metric: "throughput",
		Setting: "epoll", Percent: 14, Low: 9, High: 20}}
	const says = `another setting of the generator (epoll) changes throughput of "go" at level "c16" by 14 % [9, 20]`
	r := &lab.Record{}
	r.Facts, r.Sensitive = []fact.Fact{f}, &lab.Sensitivity{Sentence: says, Fact: &f}
	r.Verdicts = []lab.Comparison{{Control: true}}
	if s := sentenceOf(r, answer.Answer{}); s != "A"+says[1:] {
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
