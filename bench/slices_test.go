package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestThreadState(t *testing.T) {
	for _, c := range []struct {
		stat string
		want byte
	}{
		{"7 (wrk) T 1 7 7 0 -1", 'T'}, {"7 (dyno) R 1", 'R'}, {"8 (a) T (b) S 1", 'S'},
		{"9 (iou-wrk-7) T 1\n", 'T'}, {"", 0}, {"7 (wrk", 0}, {"7 (wrk) ", 0},
	} {
		got, err := threadState(c.stat)
		if got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%q: got %q, %v, want %q", c.stat, got, err, c.want)
		}
	}
}

func TestSlicesFlags(t *testing.T) {
	if !canPin {
		if _, err := parseFlags([]string{"-slices", "1"}, io.Discard); err == nil {
			t.Error("no error on a system that is not Linux")
		}
		return
	}
	for _, c := range []struct{ args, want string }{
		{"-slices 9", ""}, {"-slices 9 -gate -md -rows h2", ""}, {"-slices 0 -limit -pairs 3", ""},
		{"-slices 9 -pairs 3", "-pairs does not work with -slices"},
		{"-slices 9 -seconds 3", "-seconds does not work with -slices"},
		{"-slices 9 -force", "-force does not work with -slices"},
		{"-limit -slices 9", "-limit does not work with -slices"},
	} {
		_, err := parseFlags(strings.Fields(c.args), io.Discard)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.args, err, c.want)
		}
	}
}

// Only loads that last as long as they are told have slices, and these have all that they show.
func TestSliceRows(t *testing.T) {
	var log strings.Builder
	o := options{pairs: 4, seconds: 2, slices: 50}
	chosen, err := o.chooseRows()
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.sliceRows(chosen, &log)
	if err != nil {
		t.Fatal(err)
	}
	want := "bench: without mem10k,pace,stall,open20k,queue50,queue70,queue85: " +
		"-slices needs a load without a rate\n"
	if log.String() != want {
		t.Errorf("got %q, want %q", log.String(), want)
	}
	for _, r := range got {
		if r.pairs != 50 || r.slice != sliceLength || r.load.seconds != 0 {
			t.Errorf("%s: %d slices of %v", r.name, r.pairs, r.slice)
		}
		for _, b := range r.bars {
			if !slices.ContainsFunc(r.columns, func(c column) bool { return c.metric == b.metric }) {
				t.Errorf("row %s: no slice measures the bar %q", r.name, b.describeBar(""))
			}
		}
	}
	o.rows = "keep100,pace"
	if chosen, err = o.chooseRows(); err != nil {
		t.Fatal(err)
	}
	if _, err := o.sliceRows(chosen, &log); err == nil ||
		!strings.Contains(err.Error(), "-slices does not work with -rows pace: ") {
		t.Errorf("a row that is named: %v", err)
	}
}

// The table divides dyno by every tool.
func TestSlicesTable(t *testing.T) {
	o := rowOutcome{Name: "x", Title: "y", SliceMS: 200, Tools: []string{"dyno", "wrk", "shb"},
		row: row{pairs: 6, slice: sliceLength, baseline: wrkOnly, columns: sliceColumns[:2]}}
	o.Trials = slices.Concat(trials("dyno", cpu, 2, 2, 2, 2, 2, 2),
		trials("wrk", cpu, 4, 4, 4, 4, 4, 5), trials("shb", cpu, 1, 1, 1, 1, 1, 1))
	o.judgeRow()
	var b strings.Builder
	o.writeRow(&b, false)
	want := `
x: y

tool  slices  req/s  dyno ÷ it  CPU µs/req  dyno ÷ it
dyno  6       –      1          2.000       1
wrk   6       –      –          4.000       0.500 [0.400, 0.500]
shb   6       –      –          1.000       2.000 [2.000, 2.000]

Ratios are of pairs of slices of 200 ms (interval: 96.9 %, 6 values); other values are medians.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// endless returns a tool that makes requests until it is killed, and its process's file.
func endless(t *testing.T, name string) (x tool, file string) {
	file = filepath.Join(t.TempDir(), name)
	return tool{name: name, path: self(t), command: func(_ load, url string) command {
		return command{args: []string{"be-load", file, url}}
	}}, file
}

// checkGone checks that the process in a file has ended, and its parent has waited for it.
func checkGone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Errorf("%s: process %d is still there", file, pid)
	}
}

// Two tools have their slices, whatever becomes of a third; then none is left.
func TestSlices(t *testing.T) {
	t.Parallel()
	if !canPin {
		t.Skip("-slices works on Linux only")
	}
	s := start(t)
	s.singleProcess = true
	a, aFile := endless(t, "a")
	b, bFile := endless(t, "b")
	broken := tool{name: "broken", path: self(t), command: func(load, string) command {
		return command{args: []string{"be-broken"}}
	}}
	r := row{name: "x", pairs: 2, slice: sliceLength, load: load{connections: 1}}
	out := rowOutcome{row: r}
	(&bench{log: io.Discard}).sliceLoads(t.Context(), s, r, &out, []tool{a, broken, b})
	checkGone(t, aFile)
	checkGone(t, bFile)
	made := map[string]int{}
	for _, x := range out.Trials {
		made[x.Tool]++
		if x.Tool == "broken" {
			if !strings.Contains(x.Error, "exit status 1: address already in use") {
				t.Errorf("a tool that fails: %v", x)
			}
			continue
		}
		for _, m := range []metric{served, rate, cpu, serverCPU} {
			if x.Values[m] <= 0 {
				t.Errorf("%v: %s is %v", x, m, x.Values[m])
			}
		}
	}
	if made["a"] != 2 || made["b"] != 2 || made["broken"] != 1 {
		t.Errorf("got %v slices", made)
	}
}

// When it is interrupted, a tool that is stopped does not stay.
func TestSlicesInterrupted(t *testing.T) {
	t.Parallel()
	if !canPin {
		t.Skip("-slices works on Linux only")
	}
	ctx, cancel := context.WithCancel(t.Context())
	a, file := endless(t, "a")
	interrupt := tool{name: "b", path: self(t), command: func(load, string) command {
		cancel()
		return command{args: []string{"be-asleep"}}
	}}
	r := row{name: "x", pairs: 2, slice: sliceLength, load: load{connections: 1}}
	out := rowOutcome{row: r}
	(&bench{log: io.Discard}).sliceLoads(ctx, start(t), r, &out, []tool{a, interrupt})
	checkGone(t, file)
	if len(out.Trials) != 1 || out.Trials[0].Error == "" {
		t.Errorf("got %v", out.Trials)
	}
}
