package run

import (
	"context"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"dyno/internal/observe/profile"
)

// together is an experiment whose variants and levels run together when - joins them.
const together = `
version: 1
name: together
design: {rounds: 6, seed: 7, warmup: {min: 0, max: 0}, measure: 1s, cooldown: 0, metrics: [throughput]}
levels: [{name: c16, connections: 1}, {name: tls-c16, connections: 9}]
variants:
  go: {url: http://go.invalid/}
  go-tls: {url: http://go-tls.invalid/}
`

func togetherBench(t *testing.T) *bench {
	b := newTestBench(t)
	b.rates = map[string]float64{"go": 100, "go-tls": 90}
	return b
}

// All planned trials run, whatever the names of variants and levels are.
func TestNamesThatRunTogether(t *testing.T) {
	b := togetherBench(t)
	dir := filepath.Join(t.TempDir(), "out")
	r := b.run(t.Context(), b.lab(dir, together))
	ran := map[lab.CellKey]int{}
	for _, trial := range r.Trials {
		ran[lab.CellKey{Arm: trial.Arm, Level: trial.Level}]++
	}
	if len(r.Trials) != 36 || len(ran) != 6 || slices.Max(counts(ran)) != 6 || len(r.Cautions) > 0 {
		t.Errorf("%d trials: %v; %q", len(r.Trials), ran, r.Cautions)
	}
	if p, err := judge.Follow(dir).ReadProgress(); err != nil || len(p.Queue) != 0 {
		t.Errorf("to come: %+v, %v", p, err)
	}
}

func counts(of map[lab.CellKey]int) (all []int) {
	for _, n := range of {
		all = append(all, n)
	}
	return all
}

// ageFolder gives the folder's trials the names that earlier versions gave them, and removes those
// that these took for others.
func ageFolder(t *testing.T, dir string) (left int) {
	t.Helper()
	folder := filepath.Join(dir, lab.TrialsFolder)
	trials, err := lab.Folder{Dir: dir}.ReadTrials()
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range trials {
		if err := os.Remove(filepath.Join(folder, trial.ID+".json")); err != nil {
			t.Fatal(err)
		}
		trial.ID = fmt.Sprintf("r%03d-%s-%s", trial.Round, lab.SafeName(trial.Arm), lab.SafeName(trial.Level))
		if (lab.Folder{Dir: dir}).StoreTrial(trial) == nil {
			left++
		}
	}
	r, err := lab.ReadRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	trials, _ = lab.Folder{Dir: dir}.ReadTrials()
	r.Trials = nil
	for _, trial := range trials {
		r.Trials = append(r.Trials, trial.Summary())
	}
	if err := (lab.Folder{Dir: dir}).WriteJSON(lab.RecordFile, r); err != nil {
		t.Fatal(err)
	}
	return left
}

// A folder of an earlier version, which lost trials, is read with a caution, and resumed: what
// is lacking is run, and nothing else.
func TestFolderOfEarlierNames(t *testing.T) {
	b := togetherBench(t)
	dir := filepath.Join(t.TempDir(), "out")
	b.run(t.Context(), b.lab(dir, together))
	if left := ageFolder(t, dir); left != 30 {
		t.Fatalf("%d trials are left", left)
	}
	r, err := judge.Open(dir)
	if err != nil || cautioned(r, "6 planned trials were not stored") != 1 {
		t.Fatalf("%q, %v", r.Cautions, err)
	}
	b.starts = nil
	l := b.lab(dir, together)
	l.Resume = true
	r = b.run(t.Context(), l)
	ran := slices.DeleteFunc(b.starts, func(s string) bool { return s[0] != 'r' })
	if len(ran) != 6 || len(r.Trials) != 36 || cautioned(r, "not stored") != 0 {
		t.Errorf("ran %q; %d trials; %q", ran, len(r.Trials), r.Cautions)
	}
}

// Trials that are lacking keep a gate from passing.
func TestGateOfTrialsThatAreLacking(t *testing.T) {
	b := togetherBench(t)
	b.rates["go-tls"], b.noise = 100, 0.0001
	text := strings.Replace(together, "rounds: 6", "rounds: 8", 1) + "gate: {metrics: [throughput]}\n"
	l := b.lab(filepath.Join(t.TempDir(), "out"), text)
	r, err := l.prepareRun()
	if err != nil {
		t.Fatal(err)
	}
	defer r.folder.Unlock()
	if err := r.runSteps(t.Context()); err != nil || r.record.Gate.Verdict != lab.Passed {
		t.Fatalf("%v, %+v", err, r.record.Gate)
	}
	r.trials = slices.DeleteFunc(r.trials, func(t *lab.Trial) bool {
		return t.Round > 6 && t.Arm == "go-tls" && t.Level == "c16"
	})
	if err := r.decideGate(t.Context()); err != nil || r.record.Gate.Verdict != lab.Undecided ||
		!strings.Contains(r.record.Gate.Why, `2 of "go-tls" at level "c16"`) {
		t.Errorf("%v, %+v", err, r.record.Gate)
	}
}

// profiled is a server that gives a profile, in which the variant's name is a function's.
type profiled struct{ fake }

func (p profiled) PProf() string { return p.URL() }

func (p profiled) Reach() Reach {
	return Reach{Fetch: func(context.Context, string, profile.Kind, time.Duration) (*profile.Profile,
		error) {
		f := &pprof.Function{ID: 1, Name: p.name}
		at := &pprof.Location{ID: 1, Line: []pprof.Line{{Function: f}}}
		return &pprof.Profile{SampleType: []*pprof.ValueType{{Type: "cpu", Unit: "nanoseconds"}},
			Function: []*pprof.Function{f}, Location: []*pprof.Location{at},
			Sample: []*pprof.Sample{{Location: []*pprof.Location{at}, Value: []int64{1}}}}, nil
	}}
}

// profilesOf runs the experiment with profiles, in a folder that may have some.
func profilesOf(t *testing.T, dir string, resume bool) *lab.Record {
	t.Helper()
	b := togetherBench(t)
	l := b.lab(dir, together+"profile: {cpu: 1s}\n")
	l.Resume = resume
	l.Start = func(ctx context.Context, s Setting) (Stand, error) {
		stand, err := b.start(ctx, s)
		if err != nil {
			return nil, err
		}
		return profiled{stand.(fake)}, nil
	}
	return b.run(t.Context(), l)
}

func checkProfiles(t *testing.T, dir string, r *lab.Record) {
	t.Helper()
	files := map[string]bool{}
	for _, taken := range r.Profiles {
		files[taken.File] = true
		p, err := profile.Load(filepath.Join(dir, taken.File))
		if err != nil || p.Function[0].Name != taken.Arm {
			t.Errorf("the profile of %s at %s is %v, %v", taken.Arm, taken.Level, p, err)
		}
	}
	if len(files) != 4 {
		t.Errorf("%d files", len(files))
	}
}

// Each profile has a file of its own. Those of an earlier version that had one are taken again.
func TestProfilesThatRunTogether(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	r := profilesOf(t, dir, false)
	checkProfiles(t, dir, r)
	for i, taken := range r.Profiles { // as they were
		to := fmt.Sprintf("profiles/%s-%s-cpu.pb.gz", taken.Arm, taken.Level)
		if err := os.Rename(filepath.Join(dir, taken.File), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
		r.Profiles[i].File = to
	}
	if err := (lab.Folder{Dir: dir}).WriteJSON(lab.RecordFile, r); err != nil {
		t.Fatal(err)
	}
	old, err := judge.Open(dir)
	if err != nil || cautioned(old, `profiles of "go" at level "tls-c16" and "go-tls" at level "c16" were written to one file`) != 1 {
		t.Errorf("%q, %v", old.Cautions, err)
	}
	r = profilesOf(t, dir, true)
	checkProfiles(t, dir, r)
	if cautioned(r, "one file") != 0 {
		t.Errorf("%q", r.Cautions)
	}
}
