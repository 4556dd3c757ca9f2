package judge

import (
	"dyno/internal/lab"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dyno/internal/result"
	"dyno/internal/stats"
)

var epoch = time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)

// measured is a result of so many requests a second, which takes as much longer
// as it has fewer.
func measured(minute int, rate float64) *result.Result {
	return &result.Result{Format: result.Format,
		Window:    result.Window{Started: epoch.Add(time.Duration(minute) * time.Minute)},
		Rate:      result.Rate{Completed: rate},
		Latency:   &result.Distribution{Count: 1000, P50: 1e6 / rate, P99: 2e6 / rate},
		Generator: result.Generator{Verdict: result.OK}}
}

// runs are results with those rates, at every other minute.
func runs(minute int, rates ...float64) (all []*result.Result) {
	for i, rate := range rates {
		all = append(all, measured(minute+2*i, rate))
	}
	return all
}

// noisy are n rates about one, a per mille apart.
func noisy(n int, rate float64) (all []float64) {
	for i := range n {
		all = append(all, rate*(1+float64(i*7%n-n/2)/1000))
	}
	return all
}

func TestCompareResults(t *testing.T) {
	base := runs(0, noisy(6, 1000)...)
	bound := runs(1, noisy(6, 1000)...)
	bound[2].Generator.Verdict, bound[2].Generator.BusyPercent = result.ClientBound, 98
	failing := runs(1, noisy(6, 1000)...)
	failing[0].Requests = result.Requests{Sent: 100, Completed: 90, Errors: 10}
	unreliable := runs(1, noisy(6, 500)...)
	for _, r := range unreliable {
		r.Requests = result.Requests{Sent: 100, Completed: 90, Errors: 10}
	}
	silent := runs(1, noisy(7, 1000)...)
	silent[3].Rate.Completed, silent[3].Latency = 0, nil
	brief := runs(1, noisy(6, 1000)...)
	brief[0].Generator.Reasons = []string{"too short to judge"}
	brief[0].Generator.Doubts = []result.Doubt{{Cause: result.TooShort, Kind: result.Short, Verdict: result.OK}}
	few := runs(1, noisy(6, 1000)...)
	for _, r := range few {
		r.Latency.Count = 100 // too few for p99
	}
	for _, test := range []struct {
		name       string
		with       []*result.Result
		throughput stats.Verdict
		gate       string
		why        string // in the gate's reason or, where it passes, in a caution
	}{
		{"same", runs(1, noisy(6, 1000)...), stats.Equivalent, lab.Passed, ""},
		{"a little", runs(1, noisy(6, 1010)...), stats.Negligible, lab.Passed, ""},
		{"better", runs(1, noisy(6, 1100)...), stats.Different, lab.Passed, ""},
		{"worse", runs(1, noisy(6, 900)...), stats.Different, lab.Regression, ""},
		{"too short", brief, stats.Equivalent, lab.Passed,
			"the generator was not judged in 1 of the 6 runs of B: too short to judge"},
		{"afterwards", runs(90, noisy(6, 1000)...), stats.Equivalent, lab.Passed,
			"every run of A began before the first of B"},
		{"before", runs(-90, noisy(6, 1000)...), stats.Equivalent, lab.Passed,
			"every run of B began before the first of A"},
		{"wild", runs(1, 500, 1500, 700, 1400, 600, 1900), stats.Inconclusive, lab.Undecided,
			"throughput of B: undecided: "},
		{"one run", runs(1, 900), stats.Inconclusive, lab.Undecided,
			"throughput, p50 and p99 of B: 1 run against 6 is too few for a 95 % interval"},
		{"not after Holm", runs(1, noisy(3, 900)...), stats.Inconclusive, lab.Undecided,
			"3 runs against 6 are too few for a 95 % interval"},
		{"generator's limit", bound, stats.Equivalent, lab.Undecided, "throughput, p50 and p99 of B: the generator " +
			"was at its limit"},
		{"unreliable", unreliable, stats.Different, lab.Undecided, "6 of 12 trials are unreliable (grade F); throughput"},
		{"errors", failing, stats.Equivalent, lab.Undecided, "1 of the 6 runs of B is of grade F for other reasons than a busy machine: 10 of 100"},
		{"no answer", silent, stats.Equivalent, lab.Undecided, "throughput, p50 and p99 of B: 1 run has no value"},
		{"too few exchanges", few, stats.Equivalent, lab.Undecided, "no comparison of p99: 6 runs of A, but none of B, have the 368 requests " +
			"that a p99 needs; make the runs longer"},
	} {
		u, err := CompareGroups([]Group{GroupResults("base", base), GroupResults("head", test.with)}, nil, 0.02)
		if err != nil {
			t.Fatal(test.name, err)
		}
		u.DecideGate()
		c := u.Verdicts[0]
		if c.Metric != "throughput" || c.Verdict != test.throughput || c.Variant != "head" {
			t.Errorf("%s: %+v", test.name, c)
		}
		said := u.Gate.Why
		if u.Gate.Verdict == lab.Passed {
			said = strings.Join(u.Cautions, "\n")
		}
		if u.Gate.Verdict != test.gate || !strings.Contains(said, test.why) {
			t.Errorf("%s: %+v, cautions %q", test.name, u.Gate, u.Cautions)
		}
		if test.name == "same" && len(u.Cautions) > 0 {
			t.Errorf("%q", u.Cautions)
		}
	}
}

// The numbers are those of package stats, of the variant to the baseline.
func TestCompareIsMannWhitney(t *testing.T) {
	x, y := []float64{980, 1020, 1100, 1050, 990}, []float64{900, 940, 960, 1000}
	u, err := CompareGroups([]Group{GroupResults("y", runs(0, y...)), GroupResults("x", runs(1, x...))},
		lab.Measures[:1], 0.02)
	if err != nil {
		t.Fatal(err)
	}
	want, err := stats.UnpairedRatio(x, y, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	c := u.Verdicts[0]
	if c.Ratio != want.Estimate || c.Low != want.Low || c.High != want.High || c.Trials != 5 ||
		c.Against != 4 || math.Abs(c.P-stats.MannWhitney(x, y)) > 1e-12 || c.PHolm != c.P {
		t.Errorf("%+v, want %+v", c, want)
	}
	if len(u.Cells) != 2 || u.Cells[1].Arm != "x" || u.Cells[1].Median.Estimate != 1020 {
		t.Errorf("%+v", u.Cells)
	}
}

func TestCompareSingles(t *testing.T) {
	one, other := measured(0, 1000), measured(0, 900)
	u, err := CompareGroups([]Group{GroupResults("a", []*result.Result{one}),
		GroupResults("b", []*result.Result{other}), GroupResults("c", []*result.Result{measured(2, 1000)})}, nil, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	for id, which := range map[string]string{"20260102-150000-aaaa": "20260102-150000-aaaa",
		"": "which began at " + one.Window.Started.Format(time.RFC3339Nano)} {
		one.ID = id
		same := []Group{GroupResults("last", []*result.Result{one}), GroupResults("last", []*result.Result{one})}
		if _, err := CompareGroups(same, nil, 0.02); err == nil ||
			err.Error() != "A and B are the same run, "+which+": give two runs" {
			t.Errorf("a run beside itself: %v", err)
		}
	}
	u.DecideGate()
	if !u.IsSingle() || u.Gate.Verdict != lab.Undecided || len(u.Verdicts) != 6 ||
		math.Abs(u.Verdicts[0].Ratio-0.9) > 1e-12 || u.Verdicts[0].Verdict != stats.Inconclusive {
		t.Errorf("%+v", u)
	}
}

func TestCompareRefuses(t *testing.T) {
	dir := stored(t, 0, map[string]float64{"go": 1000}, "c10")
	whole, err := ReadGroup("X", dir, "")
	if err != nil {
		t.Fatal(err)
	}
	base := GroupResults("base", runs(0, 1, 2, 3))
	for want, groups := range map[string][]Group{
		"the run that began at 2026-01-02T15:02:00Z is in base and in other; each may count once": {
			base, GroupResults("other", runs(-1, 1, 2, 3)[:1]), GroupResults("other", runs(2, 2))},
		"the run that began at 2026-01-02T15:00:00Z is twice in one; each may count once": {
			GroupResults("one", append(runs(0, 1), runs(0, 1)...)), base},
		"X has nothing to compare with base: it has go at c10, and the other results; arms and " +
			"levels must have the same names, or name one arm of each, as DIR:ARM": {
			GroupResults("base", runs(-100, 1, 2, 3)), whole},
		"comparing needs 2 to 26 results, and 1 are given":  {base},
		"comparing needs 2 to 26 results, and 27 are given": make([]Group, 27),
	} {
		if _, err := CompareGroups(groups, nil, 0.02); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	want := dir + ` has no trial of "rust"; it has those of go, go (A/A)`
	if _, err := ReadGroup("X", dir, "rust"); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if _, err := ReadGroup("X", t.TempDir(), ""); err == nil || lab.IsExperiment(t.TempDir()) {
		t.Error("an empty folder is an experiment's")
	}
}

// stored is the folder of an experiment of eight rounds that measured those
// rates, with a control of the arm go whose noise is one per mille.
func stored(t *testing.T, minute int, rates map[string]float64, levels ...string) string {
	t.Helper()
	s, err := lab.CreateFolder(filepath.Join(t.TempDir(), "of"))
	if err != nil {
		t.Fatal(err)
	}
	r := lab.Record{Format: lab.ExperimentFormat, Progress: lab.Progress{Name: "servers",
		State: lab.Complete, Started: epoch.Add(time.Duration(minute) * time.Minute)}}
	for _, l := range levels {
		r.Cells = append(r.Cells, lab.Cell{Level: l})
	}
	rates["go (A/A)"] = rates["go"] * 1.0005
	position := 0
	for _, name := range []string{"go", "rust", "go (A/A)"} {
		if rates[name] == 0 {
			continue
		}
		r.Arms = append(r.Arms, lab.Arm{Name: name, Control: strings.HasSuffix(name, lab.ControlMark)})
		for _, level := range levels {
			for round, rate := range noisy(8, rates[name]) {
				position++
				trial := &lab.Trial{Format: lab.TrialFormat, Attempt: 1, Grade: lab.GradeA,
					Slot:   lab.Slot{Round: round + 1, Position: position, Arm: name, Level: level},
					Result: measured(minute, rate*(1+float64(position%3)/1000))}
				trial.Result.Server = &result.Server{Processes: []result.Usage{{CPU: 20}}}
				trial.Started = r.Started.Add(time.Duration(position) * time.Second)
				trial.ID = trial.FileID(1)
				if err := s.StoreTrial(trial); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := s.WriteJSON(lab.RecordFile, r); err != nil {
		t.Fatal(err)
	}
	return s.Dir
}

func TestCompareExperiments(t *testing.T) {
	base := stored(t, 0, map[string]float64{"go": 1000, "rust": 2000}, "c10", "c100")
	head := stored(t, 60, map[string]float64{"go": 1000, "rust": 1800}, "c100", "c10")
	read := func(name, dir, arm string) Group {
		g, err := ReadGroup(name, dir, arm)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	u, err := CompareGroups([]Group{read("base", base, ""), read("head", head, "")}, nil, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	u.DecideGate()
	var said []string
	for _, c := range u.Labelled(u.Verdicts) {
		if c.Metric == "throughput" {
			said = append(said, fmt.Sprintf("%s %s/%s %s %d/%d", c.Level, c.Variant, c.Baseline,
				c.Verdict, c.Trials, c.Against))
		}
	}
	want := []string{
		"c10 A go (A/A)/A go equivalent 8/0", "c10 B go (A/A)/B go equivalent 8/0",
		"c10 B go/A go equivalent 8/8", "c10 B rust/A rust different 8/8",
		"c100 A go (A/A)/A go equivalent 8/0", "c100 B go (A/A)/B go equivalent 8/0",
		"c100 B go/A go equivalent 8/8", "c100 B rust/A rust different 8/8"}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	if u.Gate.Verdict != lab.Regression || len(u.Gate.Missed) != 6 ||
		u.Gate.Missed[0].Variant != "head:rust" {
		t.Errorf("%+v", u.Gate)
	}
	// An arm against one of another name: and the server's CPU is known.
	u, err = CompareGroups([]Group{read("base:go", base, "go"), read("head:rust", head, "rust")}, nil, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	last := u.Verdicts[len(u.Verdicts)-1]
	if last.Baseline != "base:go" || last.Variant != "head:rust" || u.Label("head:rust") != "B" {
		t.Errorf("%+v", last)
	}
	if c := u.Verdicts[3]; c.Metric != "cpu" || c.Verdict != stats.Equivalent {
		t.Errorf("%+v", c)
	}
	// What the baseline has and the other has not keeps a gate from passing.
	only := stored(t, 60, map[string]float64{"go": 1000}, "c10", "c100")
	u, err = CompareGroups([]Group{read("base", base, ""), read("only", only, "")}, nil, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	if u.DecideGate(); u.Gate.Verdict != lab.Undecided || !strings.Contains(u.Gate.Why, `"rust" of A at level "c10" has no counterpart in B`) {
		t.Errorf("%+v", u.Gate)
	}
}

// An experiment that differs from itself cannot show what differs from it.
func TestCompareNeedsQuietMachines(t *testing.T) {
	dir := stored(t, 0, map[string]float64{"go": 1000}, "c10")
	other := stored(t, 60, map[string]float64{"go": 900}, "c10")
	trials, err := filepath.Glob(filepath.Join(other, lab.TrialsFolder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range trials {
		tr, err := lab.ReadTrial(other, strings.TrimSuffix(filepath.Base(name), ".json"))
		if err != nil {
			t.Fatal(err)
		}
		if tr.Arm != "go (A/A)" {
			continue
		}
		tr.Result.Rate.Completed *= 1.2
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if err := (lab.Folder{Dir: other}).StoreTrial(tr); err != nil {
			t.Fatal(err)
		}
	}
	a, err := ReadGroup("a", dir, "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadGroup("b", other, "")
	if err != nil {
		t.Fatal(err)
	}
	u, err := CompareGroups([]Group{a, b}, lab.Measures[:1], 0.02)
	if err != nil {
		t.Fatal(err)
	}
	u.DecideGate()
	c := u.Verdicts[len(u.Verdicts)-1]
	if u.Gate.Verdict != lab.Undecided || !strings.Contains(u.Gate.Why, "was compared with itself, and throughput still differed") ||
		c.Verdict != stats.Inconclusive || c.Floor < 0.19 {
		t.Errorf("%+v %+v", u.Gate, c)
	}
}

// What can never be significant is said before anyone waits for it.
func TestCompareOfTooFew(t *testing.T) {
	for _, test := range []struct {
		runs     int
		measures int
		want     string
	}{
		{4, 1, ""},
		{4, 3, "p is at least 0.086 after Holm's correction for 3 comparisons; a verdict takes 6 runs of each"},
		{5, 3, ""},
	} {
		u, err := CompareGroups([]Group{GroupResults("a", runs(0, noisy(test.runs, 1000)...)),
			GroupResults("b", runs(1, noisy(test.runs, 500)...))}, lab.Measures[:1], 0.02)
		if test.measures == 3 {
			u, err = CompareGroups(u.Groups, nil, 0.02)
		}
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(u.Cautions, "\n"); !strings.Contains(said, test.want) ||
			said != "" && test.want == "" {
			t.Errorf("%+v: %q", test, said)
		}
	}
}
