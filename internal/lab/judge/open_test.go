package judge

import (
	"reflect"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
)

// A record that is opened has the facts of its variants that failed, in the place of those that an earlier version found
// otherwise. Where that told texts alone, nothing is said twice.
func TestWithLosses(t *testing.T) {
	fails := warn(fact.NotCompared{Comparable: 0, Variants: 2, Failed: []fact.FailedVariant{
		{Variant: "php", Trials: 1, Phase: "start", Why: "ended"}}}, fact.Scope{})
	other := warn(fact.ServersKept{}, fact.Scope{})
	told := warn(fact.Told{Text: "0 of 2 variants can be compared"}, fact.Scope{})
	for name, c := range map[string]struct{ had, want []fact.Fact }{
		"it had none":   {nil, []fact.Fact{fails}},
		"it had others": {[]fact.Fact{other}, []fact.Fact{other, fails}},
		"it counted otherwise": {[]fact.Fact{warn(fact.NotCompared{Comparable: 2, Variants: 2, Unpaired: true}, fact.Scope{}), other},
			[]fact.Fact{fails, other}},
		"it told texts": {[]fact.Fact{told, other}, []fact.Fact{told, other}},
	} {
		r := new(lab.Record)
		r.State, r.Experiment, r.Facts = lab.Complete, &experiment.Experiment{}, c.had
		r.Arms = []lab.Arm{{Name: "go"}, {Name: "php", Baseline: "go"}}
		r.Trials = []lab.TrialSummary{{Slot: lab.Slot{Arm: "go"}}, {Slot: lab.Slot{Arm: "php"},
			Failure: &lab.Failure{Phase: "start", Reason: "ended"}}}
		if got := withLosses(r); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, c.want)
		}
	}
}
