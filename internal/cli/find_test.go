package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dyno/internal/capacity"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result"
)

// tryFind runs a search or a sweep in a short time. What a machine that is busy
// with tests can certify is not known; that it says what it found is. It returns the output, "" if
// nothing was found.
func tryFind(t *testing.T, dir, line string) string {
	t.Helper()
	line = timed.ReplaceAllString(line, "") + " --probe-time 100ms --warmup 20ms"
	if strings.Contains(line, "--levels") || strings.Contains(line, "--rates") {
		line = rounds.ReplaceAllString(line, "") + " --rounds 1"
	}
	c := shell(t, dir, line)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	code := 0
	if failed {
		code = exit.ExitCode()
	}
	if code == exitUnreachable && strings.Contains(errs.String(), "nothing was answered within 0.1 s") {
		return "" // the machine was too busy for so short a probe
	}
	if !slices.Contains([]int{exitOK, exitMissed, exitUntrusted}, code) || len(out) == 0 {
		t.Errorf("%s: code %d, %s\n%s", line, code, out, errs.Bytes())
	}
	if code != exitOK {
		return ""
	}
	return string(out)
}

// startDyno starts dyno target, and returns its URL.
func startDyno(t *testing.T, flags string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM to end a server with")
	}
	c := shell(t, t.TempDir(), "dyno target --listen 127.0.0.1:0 "+flags)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		c.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Scan()
	url, found := strings.CutPrefix(lines.Text(), "listening on ")
	if !found {
		t.Fatalf("the first line is %q", lines.Text())
	}
	return url + "/"
}

// codes are those of each end.
var codes = map[capacity.End]int{capacity.Found: 0, capacity.Missed: 1, capacity.ClientBound: 3,
	capacity.Inconclusive: 3}

// A server that takes 2 ms for each request carries 500 a second, and no objective
// makes it carry more, but for what a queue of 40 ms hides in so short a probe. How much less a
// machine that is busy lets it carry is not known: capacity's tests have a server in virtual time.
func TestFindsARealServersLimit(t *testing.T) {
	t.Parallel()
	url := startDyno(t, "--workers 1 --service constant:2ms")
	s, longer, errs := searchAnswered(t, "--slo", "p90<40ms", "--slo", "errors<=0", "-R", "100", url)
	if !longer && !strings.Contains(errs, "longer than --probe-time: bounds of a percentile take so many") {
		t.Errorf("a probe is longer than was asked for, without a word:\n%s", errs)
	}
	if s.Certified != nil && *s.Certified > 600 {
		t.Errorf("certified %v of 500/s", *s.Certified)
	}
	if s.End == capacity.Found && !(*s.Certified < *s.High) {
		t.Errorf("met at %v, and not at %v", *s.Certified, *s.High)
	}
	for _, p := range s.Probes {
		if p.Rate > 650 && p.Outcome == capacity.Passed {
			t.Errorf("%v/s passed of 500/s", p.Rate)
		}
	}
	for _, p := range s.Probes[:1] {
		if p.Rate != 100 || s.Closed != nil || len(p.Judged) != 2 || p.Judged[0].Expr != "p90<40ms" {
			t.Errorf("the first probe is %+v", p)
		}
	}
	if n := strings.Count(errs, "/s, p90<40ms: "); n != len(s.Probes) {
		t.Errorf("%d probes, %d of them told\n%s", len(s.Probes), n, errs)
	}
	t.Logf("%s: %s", s.End, s.Reason)
}

// searchAnswered is a search, and what it told, with the exit code of its end. It has longer probes
// where none was answered on a busy machine.
func searchAnswered(t *testing.T, flags ...string) (s capacity.Search, longer bool, told string) {
	t.Helper()
	for probe := 300 * time.Millisecond; ; probe *= 4 {
		var out, errs bytes.Buffer
		code := Main(slices.Concat([]string{"find", "--probe-time", probe.String(), "-t", "1", "--json", "-"}, flags), nil, &out, &errs)
		s = capacity.Search{}
		if err := json.Unmarshal(out.Bytes(), &s); err != nil {
			t.Fatalf("%q: code %d: %v\n%s%s", flags, code, err, out.Bytes(), errs.Bytes())
		}
		if s.End == capacity.Unreachable && probe < time.Minute {
			longer = true
			continue
		}
		if want, known := codes[s.End]; !known || code != want {
			t.Fatalf("%q: %s: code %d\n%s", flags, s.End, code, errs.Bytes())
		}
		return s, longer, errs.String()
	}
}

// Four workers of 20 ms give N users an answer each N·5 ms, on average at least: no limit of 100 ms is
// met by more than 20 of them, nor by one connection more.
func TestFindsHowManyUsers(t *testing.T) {
	t.Parallel()
	url := startDyno(t, "--workers 4 --service constant:20ms")
	for axis, args := range map[string][]string{"users": {"--users", "8"}, "connections": {"-c", "8"}} {
		s, _, told := searchAnswered(t, append(args, "--axis", axis, "--slo", "mean<100ms,errors<=0", url)...)
		if s.Certified != nil || string(s.Axis) != axis || s.Count == nil {
			t.Fatalf("%s: %s, %+v\n%s", axis, s.End, s.Count, told)
		}
		for i, p := range s.Probes {
			of, level := p.Level()
			if string(of) != axis || i == 0 && level != 8 || level > 21 && p.Outcome == capacity.Passed {
				t.Errorf("%s: probe %d is %+v", axis, i+1, p)
			}
		}
		if s.End == capacity.Found && (s.Count.Certified < 1 || s.Count.Certified > 21 || s.Count.High <= s.Count.Certified) {
			t.Errorf("%s: %+v", axis, s.Count)
		}
		t.Logf("%s: %s", axis, s.Reason)
	}
}

func TestSweepsARealServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(answer(new(atomic.Int64)))
	defer server.Close()
	for flag, levels := range map[string][]float64{
		"--levels=c=1,2,3,4": {1, 2, 3, 4}, "--rates=200,100": {200, 100},
	} {
		c, out := sweepAnswered(t, flag, server.URL)
		if len(c.Points) != 2*len(levels) || !slices.Equal(c.Levels, levels) || c.Seed == 0 {
			t.Errorf("%s: %d points of %v", flag, len(c.Points), c.Levels)
		}
		for _, p := range c.Points {
			if p.X <= 0 || p.N <= 0 || !slices.Contains(levels, p.Level) {
				t.Errorf("%s: %+v", flag, p)
			}
		}
		if c.Fit == nil && c.Apart == 0 && len(levels) == 4 || c.Fit != nil && len(levels) == 2 {
			t.Errorf("%s: fit %+v: %s", flag, c.Fit, c.NoFit)
		}
		if rows := regexp.MustCompile(`(?m)^ +[1-4](?:00)? +[12] `).FindAllString(out, -1); len(rows) != 2*len(levels) {
			t.Errorf("%s: %s", flag, out)
		}
	}
}

// sweepAnswered is a sweep of two rounds, and its report. Its probes are longer, some seconds at most, where a busy
// machine completed nothing within one of them.
func sweepAnswered(t *testing.T, flag, url string) (c capacity.Curve, out string) {
	t.Helper()
	for probe := 100 * time.Millisecond; ; probe *= 4 {
		file := filepath.Join(t.TempDir(), "sweep.json")
		var shown, errs bytes.Buffer
		code := Main([]string{"find", flag, "--rounds", "2", "--probe-time", probe.String(), "--json", file, url}, nil,
			&shown, &errs)
		if code != exitOK && code != exitUntrusted && code != exitUnreachable {
			t.Fatalf("%s: code %d, %s", flag, code, errs.Bytes())
		}
		c = capacity.Curve{}
		readJSON(t, file, &c)
		if !slices.ContainsFunc(c.Points, nothingYet) || probe > 6*time.Second {
			return c, shown.String()
		}
		t.Logf("%s: nothing was completed in a probe of %v", flag, probe)
	}
}

// nothingYet reports whether nothing failed at a point, and nothing was completed within it.
func nothingYet(p capacity.Point) bool {
	return slices.ContainsFunc(p.Facts, func(f fact.Fact) bool {
		switch a := f.Args.(type) {
		case fact.AnsweredLate:
			return true
		case fact.NothingAnswered:
			return a.Why == ""
		}
		return false
	})
}

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A run near what this machine's generator reaches says so.
func TestRunKnowsTheCalibration(t *testing.T) {
	home := t.TempDir()
	t.Setenv("DYNO_HOME", home)
	run := calibratedRunner(func(_ context.Context, p loadplan.Plan, _ func(loadresult.Interval)) (*result.Result, error) {
		return &result.Result{Dyno: loadplan.Version, Host: result.ThisHost(), Plan: p,
			Rate: result.Rate{Completed: 900}, Generator: result.Generator{Threads: 1}}, nil
	})
	said := func() string {
		r, err := run(t.Context(), loadplan.Plan{Connections: 1, Threads: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(r.Warnings, " ")
	}
	if out := said(); out != "" {
		t.Errorf("without a calibration: %s", out)
	}
	for rate, warns := range map[float64]bool{0.5: false, 1000: true, 1e12: false} {
		c := capacity.Calibration{Format: capacity.CalibrationFormat, Dyno: loadplan.Version, Host: result.ThisHost(),
			Threads: 1, Closed: []capacity.Ceiling{{Connections: 1, Rate: rate}}}
		if _, err := c.Save(home); err != nil {
			t.Fatal(err)
		}
		out := said()
		if strings.Contains(out, "dyno itself reaches on this machine with 1 connection and 1 thread") != warns {
			t.Errorf("a ceiling of %v/s: %q", rate, out)
		}
	}
}

func FuzzParseLevels(f *testing.F) {
	for _, s := range []string{"c=1,2,4,8", "c=1k", "c=", "c=1,1", "c=0", "x", "c=1,", "c=1e300"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		levels, err := parseLevels(s)
		if err != nil {
			return
		}
		var again []string
		for _, n := range levels {
			if n < 1 || n > loadplan.MaxConnections {
				t.Errorf("%q has %d", s, n)
			}
			again = append(again, fmt.Sprint(n))
		}
		if back, err := parseLevels("c=" + strings.Join(again, ",")); err != nil || !slices.Equal(back, levels) {
			t.Errorf("%q is read as %v, and that as %v: %v", s, levels, back, err)
		}
	})
}

func FuzzParseRates(f *testing.F) {
	for _, s := range []string{"1k,2k,4k", "0.5", "100/s,200/s", "", ",", "1,1", "1e9", "-1", "1M"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rates, err := parseRates(s)
		if err != nil {
			return
		}
		var again []string
		for _, r := range rates {
			if r < 1 || r > loadplan.MaxRate*1000 {
				t.Errorf("%q has %v", s, r)
			}
			again = append(again, fmt.Sprint(r.PerSecond()))
		}
		if back, err := parseRates(strings.Join(again, ",")); err != nil || !slices.Equal(back, rates) {
			t.Errorf("%q is read as %v, and that as %v: %v", s, rates, back, err)
		}
	})
}

// limited answers 1,000 requests a second and some at once, and all others with a 503.
func limited() http.Handler {
	const perSecond, atOnce = 1000, 10
	var mu sync.Mutex
	room, last := float64(atOnce), time.Now()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		room = min(room+perSecond*now.Sub(last).Seconds(), atOnce)
		last = now
		if room < 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		room--
	})
}

// Answers of 503 are no throughput. However slow the machine is, no more than the server's limit
// can be certified: 909 ms of the longest probe have 909 right answers and 10 more, and 1 % of
// the requests may fail. How much less it is, and whether the generator was the limit, is the
// machine's.
func TestFindKnowsALimit(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(limited())
	defer server.Close()
	var found capacity.Search
	var said []byte
	for try := 0; try < 10 && found.Closed == nil; try++ { // a busy machine may answer nothing in time
		out := filepath.Join(t.TempDir(), "found.json")
		said, _ = shell(t, t.TempDir(), "dyno find --slo 'errors<1%' --probe-time 303ms --warmup 50ms -c 20 "+
			"--json "+out+" "+server.URL).CombinedOutput()
		b, err := os.ReadFile(out)
		if err == nil {
			err = json.Unmarshal(b, &found)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	if found.Closed == nil || *found.Closed > 1500 {
		t.Errorf("a closed loop reached more than is answered:\n%s", said)
	}
	if found.Certified != nil && *found.Certified > 1030 {
		t.Errorf("%v/s is certified of a server that answers 1,000:\n%s", *found.Certified, said)
	}
}

// Of a server that answers with nothing but errors a search says so, and what they are.
func TestFindSaysThatAllAreErrors(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	for flags, want := range map[string]struct {
		code int
		says string
	}{
		"--slo 'p99<1s'":              {exitMissed, "dyno: every answer was an error: status 503 ("},
		"--slo 'p99<1s' -R 40":        {exitMissed, "; every answer was an error: status 503 ("},
		"--levels c=1,2 --rounds 1":   {exitUntrusted, "dyno: every answer was an error: status 503 ("},
		"--rates 40,50,60 --rounds 1": {exitUntrusted, "dyno: every answer was an error: status 503 ("},
	} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			const busy, unanswered = "nothing is known of the server", "nothing was answered"
			out, said, code := "", busy, 0
			for try := 0; try < 20 && (strings.Contains(said, busy) || strings.Contains(said, unanswered)); try++ {
				c := shell(t, t.TempDir(), "dyno find --probe-time 100ms "+flags+" "+server.URL)
				var shown, errs bytes.Buffer
				c.Stdout, c.Stderr = &shown, &errs
				if err := c.Run(); c.ProcessState == nil {
					t.Fatal(err)
				}
				out, said, code = shown.String(), errs.String(), c.ProcessState.ExitCode()
				t.Logf("%s: try %d: %s", flags, try, said) // the first window is 100 ms, and machines are busy
			}
			if code != want.code || !strings.Contains(said, want.says) ||
				strings.Contains(said, unanswered) {
				t.Errorf("%s: code %d, %s\n%s", flags, code, said, out)
			}
		})
	}
}

// A warm-up of 0 is none. Only where none is given, it is a fifth of what is measured.
func TestFindWarmup(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"--slo p99<1s":                            2 * time.Second,
		"--slo p99<1s --probe-time 1s":            200 * time.Millisecond,
		"--slo p99<1s --warmup 0":                 0,
		"--slo p99<1s --warmup 3s":                3 * time.Second,
		"--levels c=1,2":                          time.Second,
		"--rates 1k --probe-time 2s":              400 * time.Millisecond,
		"--rates 1k --probe-time 2s --warmup 0":   0,
		"--levels c=1,2 --warmup 50ms --rounds 1": 50 * time.Millisecond,
	} {
		f, faults := readFind(append(strings.Fields(line), "http://127.0.0.1/"), nil)
		if got := time.Duration(f.plan.Warmup); got != want || len(faults) > 0 {
			t.Errorf("%s: warms up for %v, want %v; %v", line, got, want, faults)
		}
	}
}
