// Command known has the laboratory measure a known difference: a Go server whose handler uses 3 %
// or 10 % more CPU time than the cost of a request, and the same server against itself.
//
// It runs the experiment several times and counts how often the laboratory is right. At 10 % the
// verdict should be different, at 3 % it must not be equivalent, the intervals should contain the
// true ratio, and A/A should not differ. That takes minutes on an idle machine. With -screen it
// screens eight switches of the server, of which two, and two together, have a known cost.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// base is the least that the handler spins, in ns. It is most of a request's cost, so that what
// is added is a known part of it.
const base = 100_000

// experimentFile is a template of the experiment, with the server's program and the nanoseconds
// of each variant.
const experimentFile = `
version: 1
name: known
description: a handler that costs 3 %% and 10 %% more, by construction
design:
  rounds: %d
  warmup: {min: 0.5s, max: 0.5s}
  measure: %s
  cooldown: 0.1s
  metrics: [cpu]
levels: [{name: c4, connections: 4, threads: 1}]
variants:
  plain:
    processes: [{cmd: "%[3]s -spin %[4]d -listen 127.0.0.1:{{port}}"}]
    url: "http://127.0.0.1:{{port}}/"
  3-percent:
    processes: [{cmd: "%[3]s -spin %[5]d -listen 127.0.0.1:{{port}}"}]
    url: "http://127.0.0.1:{{port}}/"
  10-percent:
    processes: [{cmd: "%[3]s -spin %[6]d -listen 127.0.0.1:{{port}}"}]
    url: "http://127.0.0.1:{{port}}/"
`

// A row is a verdict of experiment.json.
type row struct {
	Variant        string
	Ratio          float64
	Low, High      float64
	Verdict        string
	Control        bool
	Trials, GradeF int
}

func main() {
	times := flag.Int("times", 10, "how often to run the experiment")
	rounds := flag.Int("rounds", 10, "rounds of each")
	measure := flag.String("measure", "1s", "window of each trial")
	dyno := flag.String("dyno", "./dyno", "program to test")
	screen := flag.Bool("screen", false, "screen eight switches, instead of comparing three servers")
	flag.Parse()
	if err := runExperiments(*times, *rounds, *measure, *dyno, *screen); err != nil {
		fmt.Fprintln(os.Stderr, "known:", err)
		os.Exit(1)
	}
}

func runExperiments(times, rounds int, measure, dyno string, screen bool) error {
	dir, err := os.MkdirTemp("", "known-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	spinner := filepath.Join(dir, "spinner")
	if err := runProgram("go", "build", "-o", spinner, "./bench/known/spinner"); err != nil {
		return fmt.Errorf("building the server: %w", err)
	}
	file := filepath.Join(dir, "known.yaml")
	write := func(rounds int, extra3, extra10 int) error {
		text := fmt.Sprintf(experimentFile, rounds, measure, spinner, base, base+extra3, base+extra10)
		return os.WriteFile(file, []byte(text), 0o600)
	}
	// The total cost of a request is measured first, without any difference.
	if err := write(6, 0, 0); err != nil {
		return err
	}
	cost, err := measureCost(dyno, file, filepath.Join(dir, "calibration"))
	if err != nil {
		return err
	}
	fmt.Printf("a request costs %.2f µs of CPU\n", cost)
	if screen {
		return runScreenings(times, rounds, measure, dyno, dir, spinner, cost)
	}
	if err := write(rounds, int(30*cost), int(100*cost)); err != nil {
		return err
	}
	var all verdictCounts
	for i := range times {
		out := filepath.Join(dir, fmt.Sprint(i))
		if err := runExperiment(dyno, file, out); err != nil {
			return err
		}
		rows, err := readVerdicts(out)
		if err != nil {
			return err
		}
		all.addVerdicts(rows)
	}
	all.printCounts(times)
	return nil
}

// measureCost returns the median CPU time per request over all variants, in µs.
func measureCost(dyno, file, out string) (float64, error) {
	if err := runExperiment(dyno, file, out); err != nil {
		return 0, err
	}
	var record struct {
		Cells []struct {
			Metric string
			Median struct{ Estimate float64 }
		}
	}
	if err := readRecord(out, &record); err != nil {
		return 0, err
	}
	var sum, n float64
	for _, c := range record.Cells {
		if c.Metric == "cpu" {
			sum += c.Median.Estimate
			n++
		}
	}
	return sum / n, nil
}

func runExperiment(dyno, file, out string) error {
	return runProgram(dyno, "lab", "run", file, "-o", out)
}

func readVerdicts(out string) ([]row, error) {
	var record struct{ Verdicts []row }
	err := readRecord(out, &record)
	return record.Verdicts, err
}

func readRecord(out string, to any) error {
	b, err := os.ReadFile(filepath.Join(out, "experiment.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// runProgram runs a program, and prints its output only if it fails.
func runProgram(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return err
}

// truths are the true ratios.
var truths = map[string]float64{"3-percent": 1.03, "10-percent": 1.10, "plain (A/A)": 1}

// A verdictCounts counts the laboratory's verdicts, and the intervals that contain the true
// ratio.
type verdictCounts struct {
	verdicts map[string]map[string]int
	held     map[string]int
}

func (t *verdictCounts) addVerdicts(rows []row) {
	if t.verdicts == nil {
		t.verdicts, t.held = map[string]map[string]int{}, map[string]int{}
	}
	for _, r := range rows {
		if t.verdicts[r.Variant] == nil {
			t.verdicts[r.Variant] = map[string]int{}
		}
		t.verdicts[r.Variant][r.Verdict]++
		if r.Low <= truths[r.Variant] && truths[r.Variant] <= r.High {
			t.held[r.Variant]++
		}
		fmt.Printf("%-12s %.4f [%.4f, %.4f] %s\n", r.Variant, r.Ratio, r.Low, r.High, r.Verdict)
	}
}

func (t *verdictCounts) printCounts(times int) {
	for _, name := range []string{"plain (A/A)", "3-percent", "10-percent"} {
		fmt.Printf("%-12s of %d: %v; the interval held the truth in %d\n", name, times,
			t.verdicts[name], t.held[name])
	}
}
