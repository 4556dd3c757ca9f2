package capacity

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/objective"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/say"
)

// A search that met no rate says that all are missed only if all were.
func TestUnmet(t *testing.T) {
	for _, c := range []struct {
		outcomes []Outcome // from the highest rate
		end      End
		says     string
	}{
		{[]Outcome{Failed, Failed}, Missed, "the objectives are missed at 10/s and above; why"},
		{[]Outcome{OurLimit, Undecided, Failed}, Inconclusive,
			"the objectives are missed at 10/s, the lowest rate that was tried; at no higher rate was it clear whether they are met; why"},
		{[]Outcome{Failed, Undecided}, Inconclusive,
			"no probe down to 10/s showed whether the objectives are met; why"},
		{[]Outcome{Failed, OurLimit}, ClientBound, "the generator was held up at every rate"},
	} {
		s := &search{found: &Search{}, prober: prober{last: &result.Result{}, settings: Settings{Axis: Rates}}}
		for i, o := range c.outcomes {
			s.noteMissed(float64(10*(len(c.outcomes)-i)), o, because(fact.LoadStopped{Why: "why"}))
		}
		s.endUnmet()
		if s.found.End != c.end || !strings.Contains(s.found.Reason, c.says) {
			t.Errorf("%v: %s: %s", c.outcomes, s.found.End, s.found.Reason)
		}
	}
}

// An error more than the limit allows is chance if a server at the limit errs as often in over 5 %
// of probes. The shares are of the binomial distribution: at 2 % of 36 requests more than two fail in
// 3.4 %, at 0.1 % of 43 one in 4.2 %, and at 0.1 % of 1,000 more than three in 1.9 %.
func TestErrorsByChance(t *testing.T) {
	for _, c := range []struct {
		objective        string
		errors, requests int64
		want             bool
	}{
		{"errors<2%", 1, 36, true}, {"errors<2%", 2, 36, true}, {"errors<2%", 3, 36, false},
		{"errors<0.1%", 1, 43, false}, {"errors<0.1%", 1, 1000, true}, {"errors<0.1%", 3, 1000, true},
		{"errors<0.1%", 4, 1000, false},
		{"errors<=2%", 2, 100, false}, // met
		{"errors<5", 5, 100, false},   // a number, and no share
		{"checks>99%", 2, 100, false},
	} {
		all, err := objective.ParseList(c.objective)
		if err != nil {
			t.Fatal(err)
		}
		share := 100 * float64(c.errors) / float64(c.requests)
		j := Judged{Outcome: result.Outcome{Value: &share, Unit: "percent"}}
		if strings.HasSuffix(c.objective, "5") {
			j.Unit = ""
		}
		if got := mayBeChance(all[0], j, c.requests); got != c.want {
			t.Errorf("%s: %d of %d: %v", c.objective, c.errors, c.requests, got)
		}
	}
}

// A probe whose objective requests without an answer leave open says so, and not that its requests
// were too few.
func TestProbeWithoutAnswers(t *testing.T) {
	o := result.Outcome{Expr: "p99<5s", Unit: "us", Value: new(2e6), Over: true, Undecided: result.NoAnswers}
	lacks := fact.AnswersMissing{Count: 11, Of: 1000, By: fact.WhenGone}
	few := result.Outcome{Expr: "p99<5s", Unit: "us", Value: new(2e6), Undecided: result.FewValues}
	r := &result.Result{Requests: result.Requests{Sent: 1000, Completed: 989}}
	for want, one := range map[string]result.Outcome{"11 of 1,000 requests had no answer when the server was gone": o, "989 requests are too few to decide p99<5s": few} {
		if got, why := worstOutcome(r, []Judged{{Outcome: one, Verdict: Undecided, lacks: lacks}}); got != Undecided ||
			say.Because(why) != want {
			t.Errorf("%s: %+v, want %s", got, why, want)
		}
	}
}

// A point's percentiles are over what they reach.
func TestPointOfUnanswered(t *testing.T) {
	for percent, want := range map[int64]string{0: "[]", 2: "[p99]", 60: "[p50 p99]"} {
		d := &result.Distribution{Count: 100 - percent}
		if percent > 0 {
			d.Over = &durations.Over{US: 2e6, Count: percent}
		}
		if got := fmt.Sprint(pointOf(&result.Result{Latency: d}, Connections, 1, 1).Over); got != want {
			t.Errorf("of %d %%: %s, want %s", percent, got, want)
		}
	}
}
