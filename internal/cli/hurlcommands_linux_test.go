package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/capacity"
	"dyno/internal/lab"
	"dyno/internal/result"
)

// hurlEnv names the real hurl; without it the other commands are tried.
const hurlEnv = "HURL"

const sessionExperiment = `
version: 1
name: shops
design: {rounds: 2, seed: 1, aa: false, warmup: {min: 0, max: 0}, measure: 1s, cooldown: 0, metrics: [throughput]}
fairness: {mode: off}
workload: {hurl: login.hurl, data: users.csv}
levels: [{name: c2, connections: 2, rate: 50}]
variants:
  one: {url: "%s"}
  two: {url: "%s"}
`

// One file logs in, lists and buys: as a test of hurl, as a load, in an experiment with two servers,
// in a search and from three agents. What each reports is what the servers counted.
func TestOneFileFiveCommands(t *testing.T) {
	t.Parallel()
	dir, one, two := t.TempDir(), newShop(t), newShop(t)
	page, err := os.ReadFile("../../docs/hurl.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"login.hurl": fenced(t, string(page), "hurl"),
		"users.csv":  fenced(t, string(page), "csv"),
		"shops.yaml": fmt.Sprintf(sessionExperiment, one.URL, two.URL)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	boughtBetween := func(what string, least, most int64) {
		t.Helper()
		if got := one.bought.Swap(0) + two.bought.Swap(0); got < least || got > most || least == 0 {
			t.Errorf("%s: %d were bought, and %d to %d reported", what, got, least, most)
		}
	}
	bought := func(what string, want int64) { t.Helper(); boughtBetween(what, want, want) }
	read := func(name string, v any) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(b, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	base := " login.hurl --variable base=" + one.URL
	if hurl := os.Getenv(hurlEnv); hurl != "" {
		c := exec.Command(hurl, "--test", "login.hurl", "--variable", "base="+one.URL, "--variable", "user=ann", "--variable", "password=x")
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("hurl: %v\n%s", err, out)
		}
		bought("hurl --test", 1)
	}

	done(t, dir, "dyno run -n 30 -c 3 -d 5m --drain 1m --data users.csv --json run.json"+base)
	bought("run", buys(t, dir, "run.json"))

	done(t, dir, "dyno lab run shops.yaml -o out")
	trials, err := filepath.Glob(filepath.Join(dir, "out", "trials", "*.json"))
	if err != nil || len(trials) < 4 {
		t.Fatalf("%d trials, %v", len(trials), err)
	}
	// A purchase counts in the window in which it was due: those of the warm-up, those after the window
	// and those of unfinished iterations may be the server's alone.
	sum, others := int64(0), int64(0)
	for _, name := range trials {
		var one lab.Trial
		read(strings.TrimPrefix(name, dir), &one)
		if one.Result != nil {
			sum += routeOf(t, one.Result)
			of := one.Result.Iterations
			others += of.Warmup + of.Unfinished + one.Result.Requests.StepsAfter
		}
	}
	boughtBetween("lab", sum, sum+others)

	// No server has a mean of 1 ns, so the search tries lower and lower rates. At the last one nothing
	// is due while it measures, which is the generator's fault where that had no CPU meanwhile.
	const warmup = 0.2 // seconds
	out, err := shell(t, dir, "dyno find --slo 'mean<1ns' -R 40 --probe-time 500ms --warmup 200ms --drain 1m "+
		"--data users.csv --json find.json"+base).CombinedOutput()
	var search capacity.Search
	if read("find.json", &search); search.Certified != nil || search.End == capacity.Unreachable {
		t.Fatalf("%v\n%s", err, out)
	}
	due, passed := 0, int64(0)
	for _, p := range search.Probes {
		due += int(math.Ceil(p.Rate*(p.Measured+warmup) - 1e-9))
		for _, c := range p.Checks {
			if strings.HasSuffix(c.Name, "status 201") {
				passed += c.Passed
			}
		}
	}
	if passed == 0 || passed > int64(due) {
		t.Errorf("find: %d iterations were due, and %d purchases passed", due, passed)
	}
	bought("find", int64(due))

	defer threeAgents(t, dir)()
	done(t, dir, "dyno run --fleet all --loose-start -n 31 -c 6 -d 5m --drain 1m --data users.csv --json fleet.json"+base)
	bought("three agents", buys(t, dir, "fleet.json"))
	if n := one.wrong.Load() + two.wrong.Load(); n > 0 {
		t.Errorf("%d requests were wrong", n)
	}
}

// threeAgents starts a fleet of three agents on this machine.
func threeAgents(t *testing.T, dir string) (end func()) {
	t.Helper()
	_, hub := started(t, dir, "dyno fleet up --listen 127.0.0.1:0")
	all := []*exec.Cmd{hub}
	for i := range 3 {
		done(t, dir, "sh -c 'dyno fleet token > token'")
		_, agent := started(t, dir, fmt.Sprint("dyno agent --join @token --name web", i))
		all = append(all, agent)
	}
	await(t, "the agents", func() bool { return strings.Count(done(t, dir, "dyno fleet ls"), "ready") == 3 })
	return func() {
		for _, c := range slices.Backward(all) {
			ended(t, c)
		}
	}
}

// buys is how many purchases the result in a file has. All of its iterations are complete.
func buys(t *testing.T, dir, file string) int64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, file))
	var r result.Result
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if i := r.Iterations; i == nil || i.Completed != i.Started {
		t.Errorf("%s: iterations %+v", file, i)
	}
	return routeOf(t, &r)
}

// routeOf is how many requests of the last step were completed.
func routeOf(t *testing.T, r *result.Result) int64 {
	t.Helper()
	for _, route := range r.Routes {
		if route.Name == "POST /buy" {
			return route.Completed
		}
	}
	t.Errorf("no purchase in %+v", r.Routes)
	return 0
}
