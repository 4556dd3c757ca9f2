package main

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*max(1, math.Abs(b)) }

// The files in testdata are what the tools printed here, with faults of the server and
// without.
func TestOutputs(t *testing.T) {
	for _, c := range []struct {
		file string
		read func([]byte) (reading, error)
		want reading
	}{
		{"wrk.txt", parseWrkOutput, reading{failed: 0,
			latencyMean: 0.0639, latencyP50: 0.057, latencyP99: 0.143}},
		{"wrk-errors.txt", parseWrkOutput,
			reading{failed: 410 + 6697, latencyMean: 1.05, latencyP50: 0.428, latencyP99: 20.48}},
		{"hey.txt", parseHeyOutput, reading{failed: 0,
			latencyMean: 57.1, latencyP50: 56.4, latencyP99: 121.3}},
		{"ab.txt", parseABOutput, reading{failed: 0}},
		{"ab-errors.txt", parseABOutput, reading{failed: 2520 + 980}},
		{"h2load.txt", parseH2loadOutput, reading{failed: 0}},
		{"h2load-log.txt", parseH2loadOutput, reading{failed: 0, latencyMean: 0.2185,
			latencyP50: 0.208, latencyP99: 0.318, latencyP999: 0.318}},
		{"h2load-errors.txt", parseH2loadOutput, reading{failed: 160}},
		{"dyno.json", parseDynoResult, reading{failed: 0, sent: 500, connServed: 5,
			lagP99: 3700.735, lagMax: 9700.164,
			latencyMean: 0.311823, latencyP50: 0.089919, latencyP99: 7.262207,
			latencyP999: 12.24409, serviceMean: 0.16007}},
		{"gcannon.json", parseGcannonOutput, reading{failed: 0,
			latencyMean: 1.479, latencyP50: 1.072, latencyP99: 20.6, latencyP999: 70.6}},
		{"shb.json", parseShbOutput, reading{failed: 0, latencyMean: 16.715493663680688,
			latencyP50: 11.812347, latencyP99: 69.57753, latencyP999: 84.573579}},
		{"pacer.json", parsePacerResult, reading{failed: 0, sent: 500,
			lagP50: 36.231, lagP99: 438.733, lagMax: 2505.528,
			latencyMean: 0.145293, latencyP50: 0.098371, latencyP99: 1.36658,
			serviceMean: 0.091956}},
	} {
		output, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.read(output)
		if err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		if !maps.EqualFunc(got, c.want, near) {
			t.Errorf("%s: got %v, want %v", c.file, got, c.want)
		}
	}
}

func TestNoOutput(t *testing.T) {
	for _, c := range []struct {
		read         func([]byte) (reading, error)
		output, want string
	}{
		{parseWrkOutput, "unable to connect\nagain", "wrk's output has no total: unable to connect"},
		{parseHeyOutput, "\nUsage: hey", "hey's output has no total: Usage: hey"},
		{parseABOutput, "", "ab's output has no total"},
		{parseH2loadOutput, "\n\n usage\n", "h2load's output has no total: usage"},
		{parseDynoResult, "connected", "dyno's --json: invalid character"},
		{parseDynoResult, `{"format":"dyno.result/2"}`, `format "dyno.result/2"`},
		{parsePacerResult, `{"lag_p99_us":1}`, "does not say how many"},
		{parseGcannonOutput, `{"errors": {}}`, "gcannon's --json has no responses: it is incomplete"},
		{parseShbOutput, ``, "shb's --json has no requests: unexpected end"},
		{parsePacerResult, ``, "the pacer's output: unexpected end"},
	} {
		got, err := c.read([]byte(c.output))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, %v, want the error %q", c.output, got, err, c.want)
		}
	}
}

// What a tool did not measure is absent, not 0.
func TestAbsent(t *testing.T) {
	got, err := parseDynoResult([]byte(`{"format":"dyno.result/1","errors":[{"count":3},{"count":4}]}`))
	if want := (reading{failed: 7}); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func FuzzOutputs(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatal("no testdata: ", err)
	}
	for _, name := range files {
		output, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(output)
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		for _, x := range tools {
			if x.parseOutput == nil {
				continue
			}
			got, err := x.parseOutput(output)
			if (got == nil) != (err != nil) {
				t.Fatalf("%s: got %v and %v", x.name, got, err)
			}
			for m, v := range got {
				if math.IsNaN(v) {
					t.Errorf("%s: %s is no number", x.name, m)
				}
			}
		}
	})
}
