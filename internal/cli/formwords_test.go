package cli

import (
	"testing"

	"dyno/internal/fact"
	"dyno/internal/say"
	"dyno/internal/setting"
)

// What is advised about the generator's doubts is said in the words of the form that the dashboard has.
func TestRemediesInFormWords(t *testing.T) {
	for _, c := range []struct {
		args     fact.Args
		remedies []fact.Remedy
		want     string
	}{
		{fact.NeverSent{}, fact.Shortage{Of: fact.OfConnections}.Remedies(), "raise “Connections”, or lower “Requests/s”"},
		{fact.ScenarioBusy{Steps: true}, []fact.Remedy{{Setting: "threads", Value: fact.Higher}},
			"have the scenario do less in a step, or add threads"},
		{fact.SendLag{}, []fact.Remedy{{Setting: "cpus", Value: fact.Some}, {Setting: "rate", Value: fact.Lower}},
			"give the generator CPUs of its own (“cpus”), or lower “Requests/s”"},
		{fact.Unscheduled{}, []fact.Remedy{{Setting: "cpus", Value: fact.Other}},
			"free the generator's CPUs of other work, or give the generator other CPUs"},
		{fact.NoFile{}, []fact.Remedy{{Setting: "connections", Value: fact.Lower}},
			"raise the limit (ulimit -n), or lower “Connections”"},
		{fact.Dropped{}, []fact.Remedy{{Setting: "connect-rate", Value: fact.Some}},
			"raise the server's backlog and net.core.somaxconn, or set “connect-rate”"},
		{fact.Unserved{}, []fact.Remedy{{Setting: "warmup", Value: fact.Higher}, {Setting: "requests", Value: fact.Higher}},
			"see the errors, or give a longer “warmup”, or raise “requests”"},
		{fact.Little{}, []fact.Remedy{{Setting: "warmup", Value: fact.Some}, {Setting: "requests", Value: fact.None}},
			"give “warmup”, or give “Duration” in place of “requests”"},
		{fact.ProbeLag{}, []fact.Remedy{{Setting: "threads", Value: fact.Lower}}, "give the generator more CPUs, or lower “threads”"},
		{fact.TooShort{}, []fact.Remedy{{Setting: "duration", Value: fact.Higher}}, "measure for longer (“Duration”)"},
	} {
		if got := say.Advice(fact.Fact{Args: c.args, Remedies: c.remedies}, setting.Label); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
