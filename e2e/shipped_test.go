//go:build linux

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	labrun "dyno/internal/lab/run"
)

// openShipped opens an experiment that ships with dyno in a folder, with a stage for its servers.
func openShipped(t *testing.T, name string) (*labrun.Stage, *experiment.Experiment) {
	t.Helper()
	dir := t.TempDir()
	if err := experiment.Extract(name, filepath.Join(dir, "files")); err != nil {
		t.Fatal(err)
	}
	e, err := experiment.ReadFile(filepath.Join(dir, "files", "experiment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	split, err := labrun.SplitCPUs(experiment.CPUs{})
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(dir, "output")
	if err := os.Mkdir(output, 0o755); err != nil {
		t.Fatal(err)
	}
	return &labrun.Stage{Output: output, Build: filepath.Join(dir, "build"), Dyno: binary,
		Supervisor: []string{binary, "supervise"}, CPUs: split, Clients: e.Design.Clients}, e
}

func variantsOf(e *experiment.Experiment) map[string]experiment.Variant {
	all := map[string]experiment.Variant{}
	for _, v := range experiment.Expand(e) {
		all[v.Name] = v
	}
	return all
}

// A build is the folder of what some steps have built. Variants and tests share it.
type build struct {
	sync.Mutex
	dir string
}

// builds are those of the tests so far, by experiment and steps.
var builds sync.Map

// buildVariant puts what the steps of a variant of an experiment build where the stage looks for it;
// the test is skipped if what it needs is not here.
func buildVariant(t *testing.T, stage *labrun.Stage, of string, v experiment.Variant) {
	t.Helper()
	if missing := experiment.Missing(v); len(missing) > 0 {
		t.Skip(strings.Join(missing, "; "))
	}
	dir := filepath.Join(stage.Build, strings.ReplaceAll(v.Name, " ", "+"))
	steps, err := json.Marshal(v.Build)
	if err = errors.Join(err, os.MkdirAll(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	if len(v.Build) == 0 {
		return
	}
	loaded, _ := builds.LoadOrStore(of+string(steps), new(build))
	b := loaded.(*build)
	b.Lock()
	defer b.Unlock()
	if b.dir == "" {
		b.dir = runBuild(t, v)
	}
	// A process of its own writes programs: others that this one starts meanwhile have them not open.
	if out, err := exec.Command("cp", "-r", b.dir+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// runBuild runs the steps that build a variant, in a folder that stays until all tests have ended.
func runBuild(t *testing.T, v experiment.Variant) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp(scratch, "build")
	if err == nil {
		err = os.Chmod(dir, 0o755) // servers that give up root read it
	}
	if err != nil {
		t.Fatal(err)
	}
	steps, err := experiment.RenderBuild(v, experiment.Values{Build: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		cmd := exec.Command(s.Args[0], s.Args[1:]...)
		cmd.Dir, cmd.Env = s.Dir, append(os.Environ(), s.Env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", s.Args, err, out)
		}
	}
	return dir
}

// startVariant starts a variant's server. The caller stops it.
func startVariant(t *testing.T, stage *labrun.Stage, v experiment.Variant, l experiment.Level) labrun.Stand {
	t.Helper()
	stand, err := stage.Start(t.Context(), labrun.Setting{Arm: v.Name, Variant: v, Level: l,
		Trial: lab.FileName("test", v.Name)}) // variants of one stage may run at once
	if err != nil {
		t.Fatal(err)
	}
	return stand
}

// What was wrong with the first round of an article is found before any load: gzip, and a
// new connection to Go for each request.
func TestAsFirstTried(t *testing.T) {
	stage, e := openShipped(t, "nginx-in-front-of-go")
	variants := variantsOf(e)
	var asked []fairness.Asked
	for _, name := range []string{"go gomaxprocs=1", "nginx-http gomaxprocs=1",
		"as-first-tried gomaxprocs=1"} {
		v := variants[name]
		buildVariant(t, stage, e.Name, v)
		asked = append(asked, fairness.Asked{Variant: name, Answer: answerAlone(t, stage, v, e.Levels[0])})
	}
	broken := map[string][]string{}
	for _, v := range fairness.Compare(asked[0].Variant, asked, e.Fairness.Allow).Violations() {
		broken[v.Variant] = append(broken[v.Variant], v.Aspect)
	}
	if got := broken["as-first-tried gomaxprocs=1"]; !slices.Contains(got, "gzip") ||
		!slices.Contains(got, "new_connections") {
		t.Errorf("the article's first round breaks %q", got)
	}
	if got := broken["nginx-http gomaxprocs=1"]; len(got) > 0 {
		t.Errorf("its second breaks %q", got)
	}
}

// answerAlone is what a variant's server answers, asked until no other program, such as another
// test, opens so many connections that a proxy's cannot be told from them.
func answerAlone(t *testing.T, stage *labrun.Stage, v experiment.Variant, l experiment.Level) *fairness.Answer {
	t.Helper()
	stand := startVariant(t, stage, v, l)
	defer stand.Stop()
	var problem string
	for range 10 { // tries: what opens connections beside it does so for seconds
		a, err := fairness.Ask(t.Context(), questionTo(t, stand.URL()))
		if err != nil {
			t.Fatal(err)
		}
		if a.Opens.PerExchange != nil {
			return a
		}
		problem = a.Opens.Problem
	}
	t.Fatal("a proxy's connections cannot be counted: ", problem)
	return nil
}

// markProcesses puts a mark into the environment of all processes that the test starts from now
// on. It returns a function that lists those alive.
func markProcesses(t *testing.T) (living func() []string) {
	t.Helper()
	is := fmt.Sprintf("%s-%d-%d", t.Name(), os.Getpid(), time.Now().UnixNano())
	t.Setenv("DYNO_TEST_MARK", is)
	return func() (all []string) {
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			env, err := os.ReadFile(file)
			if err == nil && strings.Contains(string(env), is) {
				command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
				all = append(all, strings.ReplaceAll(string(command), "\x00", " "))
			}
		}
		return all
	}
}

// forking are servers that outlive the process that was started.
var forking = []string{"php-apache", "java", "go-run", "php-builtin"}

// Servers that fork leave nothing when they are stopped, trial after trial. There are few
// trials, unless DYNO_TRIALS says how many.
func TestNothingIsLeft(t *testing.T) {
	trials := 2
	if s := os.Getenv("DYNO_TRIALS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("DYNO_TRIALS=%q is not a number of trials", s)
		}
		trials = n
	}
	stage, e := openShipped(t, "redirects")
	variants := variantsOf(e)
	for _, name := range forking {
		t.Run(name, func(t *testing.T) {
			v := variants[name]
			buildVariant(t, stage, e.Name, v)
			if name == "php-builtin" {
				v.Env = append(slices.Clip(v.Env), experiment.Entry[experiment.Template]{
					Name: "PHP_CLI_SERVER_WORKERS", Value: "4"})
			}
			v.Processes = slices.Clone(v.Processes)
			for i := range v.Processes { // a busy machine may need longer than the file allows
				v.Processes[i].Stop.Grace = experiment.Duration(time.Minute)
			}
			living := markProcesses(t)
			for i := range trials {
				stand := startVariant(t, stage, v, e.Levels[0])
				most := len(living())
				out, err := exec.Command(binary, "run", "--no-save", "-q", "-n", "300", "-c", "20",
					"--http", "1.0", "--reconnect", "always", "--expect", "301", stand.URL()).CombinedOutput()
				if err != nil {
					t.Errorf("trial %d: %v: %s", i+1, err, out)
				}
				most = max(most, len(living()))
				report := stand.Stop()
				if len(report.Killed) > 0 || report.Left > 0 {
					t.Errorf("trial %d: %+v", i+1, report)
				}
				if most < 2 { // the supervisor and a server at least
					t.Fatalf("trial %d: no process of it was seen", i+1)
				}
				waitUntil(t, "nothing is left", func() bool { return len(living()) == 0 })
			}
		})
	}
}

// Interrupted in the middle, an experiment goes on and ends as if it had not been: with the
// same trials in the same order, the same rows of its table, and nothing left behind.
func TestInterruptedAndResumed(t *testing.T) {
	_, e := openShipped(t, "redirects")
	file, out := subsetFile(t, e, "nginx", "haproxy", "python"), filepath.Join(t.TempDir(), "out")
	temporary, err := os.MkdirTemp("/tmp", "dyno-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temporary)
	t.Setenv("TMPDIR", temporary)
	living := markProcesses(t)
	first := exec.Command(binary, "lab", "run", "--seed", "7", "-o", out, file)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"first", "second", "third"} { // each has its time
		had := len(storedFiles(t, out))
		waitUntil(t, "the "+n+" trial is over", func() bool { return len(storedFiles(t, out)) > had })
	}
	first.Process.Signal(syscall.SIGINT)
	if first.Wait(); first.ProcessState.ExitCode() != 130 {
		t.Errorf("interrupted, it ended with %v", first.ProcessState)
	}
	before := storedFiles(t, out)
	if n := len(living()); n > 0 {
		t.Errorf("interrupted, it left %q", living())
	}
	said, err := exec.Command(binary, "lab", "run", "--resume", out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for name, text := range before {
		if storedFiles(t, out)[name] != text {
			t.Errorf("%s is another than before", name)
		}
	}
	whole := out + "-whole"
	if said, err := exec.Command(binary, "lab", "run", "--seed", "7", "-o", whole, file).
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if got, want := trialCourse(t, out), trialCourse(t, whole); !slices.Equal(got, want) || len(got) != 8 {
		t.Errorf("ran %q\nwant %q", got, want)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left)+len(living()) > 0 {
		t.Errorf("left: %v, %q, %v", left, living(), err)
	}
}

// subsetFile writes an experiment with some of e's variants and short trials.
func subsetFile(t *testing.T, e *experiment.Experiment, names ...string) string {
	t.Helper()
	e.Variants = slices.DeleteFunc(e.Variants, func(v experiment.Entry[experiment.Definition]) bool {
		if slices.Contains(names, v.Name) {
			buildVariant(t, &labrun.Stage{Build: t.TempDir()}, e.Name, variantsOf(e)[v.Name])
			return false
		}
		return true
	})
	e.Published, e.Fairness.Mode = nil, experiment.Off // which takes a second a variant
	e.Design.Rounds, e.Design.AA = 2, true
	e.Design.Warmup.Min, e.Design.Warmup.Max, e.Design.Cooldown = 0, 0, 0
	e.Levels = e.Levels[:1]
	// A number, not a time: on a busy machine none may be answered in a window of 200 ms.
	e.Levels[0].Requests, e.Levels[0].Connections, e.Levels[0].Rate = 60, 4, 300
	e.Design.Quick.Levels = []string{e.Levels[0].Name}
	text, err := json.Marshal(e)
	file := filepath.Join(e.Here, "subset.yaml")
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// storedFiles returns the files of an experiment's trials.
func storedFiles(t *testing.T, out string) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(out, "trials", "*.json"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = string(text)
	}
	return all
}

// trialCourse returns the trials of an experiment in the order in which they ran. Each must be in
// its table.
func trialCourse(t *testing.T, out string) (all []string) {
	t.Helper()
	r, err := judge.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	ran, inTable := map[string]int{}, map[string]int{}
	for _, trial := range r.Trials {
		if trial.Attempt == 1 { // a second is a matter of how busy the machine is
			all = append(all, fmt.Sprint(trial.Round, " ", trial.Arm))
			ran[trial.Arm]++
		}
	}
	for _, c := range r.Cells {
		if c.Metric == "throughput" {
			inTable[c.Arm] = c.Trials
		}
	}
	if r.State != lab.Complete || !maps.Equal(ran, inTable) {
		t.Errorf("%s: %s; trials %v, in the table %v", out, r.State, ran, inTable)
	}
	return all
}
