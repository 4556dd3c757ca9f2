package labanswer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
)

// spoiled has every other trial disturbed by the machine.
func spoiled(r *lab.Record) *lab.Record {
	for i := range r.Trials {
		if i%2 == 0 {
			r.Trials[i].Grade, r.Trials[i].Reasons = lab.GradeF, []lab.Reason{{Grade: lab.GradeF, Says: "others were at work", Passing: true}}
		}
	}
	return r
}

// What must not be relied on says so in the first words of its sentence and of each verdict, and no
// variant has a verdict. What nothing was found of has nothing to take back.
func TestUnreliable(t *testing.T) {
	worse, same := compared("cpu", "b", 1.4, 1.3, 1.5, stats.Different), compared("cpu", "b", 1, 0.99, 1.01, stats.Equivalent)
	self := compared("cpu", "go (A/A)", 1.1, 1.05, 1.15, stats.Different)
	self.Control = true
	withGate := func(r *lab.Record) *lab.Record { r.Gate = &lab.GateOutcome{Verdict: lab.Regression}; return r }
	for name, c := range map[string]struct {
		r                     *lab.Record
		sentence, words, says string
		unreliable            bool
	}{
		"worse": {spoiled(record(worse)), "Do not rely on this, because 6 of 12 trials are unreliable (grade F)",
			"worse, but unreliable", "CPU per request +40 % [+30, +50]", true},
		"the same": {spoiled(record(same)), "Do not rely on this, because 6 of 12 trials are unreliable (grade F)",
			"the same, within 2 %, but unreliable", "CPU per request within 2 %", true},
		"the baseline differs": {record(worse, self), "Do not rely on this, because the baseline differs from itself",
			"worse, but unreliable", "CPU per request +40 % [+30, +50]", true},
		"open": {spoiled(record(compared("cpu", "b", 1.1, 0.9, 1.3, stats.Inconclusive))), "These trials do not show whether b differs",
			"undecided", "CPU per request +10 % [−10, +30]: the interval is too wide", false},
		"sound":        {record(worse), "b needs more CPU per request than go: +40 % [+30, +50]", "worse", "CPU per request +40 % [+30, +50]", false},
		"a regression": {withGate(record(worse)), "b needs more CPU per request than go: +40 % [+30, +50]", "worse", "CPU per request +40 % [+30, +50]", false},
	} {
		a := Of(c.r)
		f, s := a.Groups[0].Findings[0], Standings(c.r, a)[0]
		if !strings.HasPrefix(a.Sentence, c.sentence) || c.unreliable && a.Sentence != c.sentence || f.Words() != c.words || (a.Unreliable != "") != c.unreliable {
			t.Errorf("%s: %q, %q, %q", name, a.Sentence, f.Words(), a.Unreliable)
		}
		if s.Says != c.says || strings.Contains(s.Leads+f.Why, "unreliable") || (f.Unreliable != "") != c.unreliable || c.unreliable && f.IsSettled() || s.Unreliable != c.unreliable ||
			s.IsDecided() != (!c.unreliable && s.Verdict != answer.Undecided) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// The command that runs all of it again can be copied as it stands: into a folder that is not there,
// and from the store into the store.
func TestRerunCommand(t *testing.T) {
	home := t.TempDir()
	t.Setenv("DYNO_HOME", home)
	beside, stored := filepath.Join(home, "my report"), filepath.Join(home, "experiments", "x")
	if err := os.Mkdir(beside+"-2", 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		beside: "dyno lab rerun '" + beside + "' -o '" + beside + "-3'",
		stored: "dyno lab rerun " + stored,
		"":     "dyno lab rerun DIR",
	} {
		r := spoiled(record(compared("cpu", "b", 1.4, 1.3, 1.5, stats.Different)))
		r.Dir = dir
		if got := Of(r).Next.Command; got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// There is one cure: where the machine has to be quiet, nothing says that more rounds would decide;
// where the time was over, the rounds that would decide are the next step.
func TestOneCure(t *testing.T) {
	open := func() lab.Comparison {
		c := compared("cpu", "b", 1.1, 0.9, 1.3, stats.Inconclusive)
		c.More = 14
		return c
	}
	held, few := open(), open()
	held.Disturbed = 2
	few.Confidence = 0.5
	over := record(open())
	over.State, over.Trials = lab.OverBudget, over.Trials[1:]
	two := spoiled(record(few))
	two.Experiment.Design.Rounds, two.Verdicts[0].Method = 2, ""
	two.Trials = slices.DeleteFunc(two.Trials, func(t lab.TrialSummary) bool { return t.Round > 2 })
	for name, c := range map[string]struct {
		r       *lab.Record
		more    int
		command string
	}{
		"spoiled":     {spoiled(record(open())), 0, "dyno lab rerun /runs/x -o /runs/x-2"},
		"held up":     {record(held), 0, "dyno lab rerun /runs/x -o /runs/x-2"},
		"few rounds":  {spoiled(record(few)), 0, "dyno lab rerun /runs/x -o /runs/x-2"},
		"two rounds":  {two, 0, "dyno lab rerun /runs/x -o /runs/x-2"},
		"over budget": {over, 14, "dyno lab run --resume /runs/x --rounds +14"},
	} {
		a := Of(c.r)
		s := Standings(c.r, a)[0]
		all := a.Sentence + a.Groups[0].Findings[0].Why + s.Says
		if name == "few rounds" && !strings.HasSuffix(s.Says, "too few rounds for an interval") {
			t.Errorf("%s: %s", name, s.Says)
		}
		if s.More != c.more || strings.Contains(all, " more would decide") != (c.more > 0) || a.Next.Command != c.command {
			t.Errorf("%s: %+v, %+v, %s", name, s, a.Next, all)
		}
		if adds := strings.HasSuffix(a.Next.Says, ", then add rounds until it has the 6 that a verdict takes"); adds != (name == "two rounds") {
			t.Errorf("%s: next, %s", name, a.Next.Says)
		}
		if n := Findings(c.r)[0].More; n != c.more {
			t.Errorf("%s: its table has a forecast of %d rounds", name, n)
		}
	}
}
