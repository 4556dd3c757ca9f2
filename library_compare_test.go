package dyno_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno"
)

var measure = flag.Bool("measure", false, "write testdata/runs.json anew, on an idle machine")

// inTurns are n runs of each of two loads, in turns.
func inTurns(t *testing.T, n int, loads ...dyno.Load) (runs [2][]*dyno.Result) {
	t.Helper()
	order := []int{0, 1}
	for range n {
		for _, k := range order {
			r, err := dyno.Run(context.Background(), loads[k])
			if err != nil {
				t.Fatal(err)
			}
			runs[k] = append(runs[k], r)
		}
		slices.Reverse(order)
	}
	return runs
}

// delayed is a server that takes at least so long for each request.
func delayed(t *testing.T, by time.Duration) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		time.Sleep(by)
	}))
	t.Cleanup(server.Close)
	return server
}

// Two URLs can be compared: another host or port is no caution, and another path is one.
func TestCompareURLs(t *testing.T) {
	a, b := delayed(t, 0), delayed(t, 0)
	to := func(url string) dyno.Load {
		return dyno.Load{URL: url, Connections: 1, Requests: 20, Drain: time.Minute}
	}
	for _, test := range []struct{ other, caution string }{
		{b.URL, ""},
		{b.URL + "/other", "The loads differ, and so the ratios are also theirs"},
	} {
		runs := inTurns(t, 5, to(a.URL), to(test.other))
		c, err := dyno.Compare(runs[0], runs[1], 0.02)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Differences) != 2 || c.Differences[0].Low == 0 || c.Differences[0].High < 1e-9 {
			t.Errorf("%+v", c.Differences)
		}
		has := func(text string) bool { return strings.Contains(text, "The loads differ") }
		if i := slices.IndexFunc(c.Cautions, has); (i >= 0) != (test.caution != "") {
			t.Errorf("%s: %q", test.other, c.Cautions)
		}
		if slices.ContainsFunc(c.Cautions, func(text string) bool { return strings.Contains(text, "too few") }) {
			t.Errorf("five runs of each are too few: %q", c.Cautions)
		}
	}
}

// A run counts once, and what cannot be compared is an error.
func TestCompareRefuses(t *testing.T) {
	before, after := storedRuns()
	for name, test := range map[string]struct {
		before, after []*dyno.Result
		margin        float64
	}{
		"nothing":    {nil, after, 0.02},
		"nil":        {[]*dyno.Result{nil}, after, 0.02},
		"no load":    {[]*dyno.Result{new(dyno.Result)}, after, 0.02},
		"twice":      {before, append(slices.Clone(before[:1]), after...), 0.02},
		"margin":     {before, after, 1},
		"margin < 0": {before, after, -0.1},
	} {
		if c, err := dyno.Compare(test.before, test.after, test.margin); err == nil {
			t.Errorf("%s: %v", name, c)
		}
	}
}

// Four runs of each cannot show a difference, and five can.
func TestCompareLeastRuns(t *testing.T) {
	before, after := storedRuns()
	for n, want := range map[int]string{4: "inconclusive", 5: "different"} {
		c, err := dyno.Compare(before[:n], after[:n], 0.02)
		if err != nil || c.Differences[1].Finding != want {
			t.Errorf("%d runs of each: %v, %v", n, c, err)
		}
	}
}

// The stored runs are of servers that wait 2 and 3 ms, in turns, and of a Scenario that keeps the
// generator's thread busy. With -measure they are measured anew; the outputs of examples follow.
func TestStoredRuns(t *testing.T) {
	const path = "testdata/runs.json"
	if *measure {
		to := func(by time.Duration) dyno.Load {
			return dyno.Load{URL: delayed(t, by).URL, Connections: 4, Requests: 2400, Drain: time.Minute}
		}
		runs := inTurns(t, 5, to(2*time.Millisecond), to(3*time.Millisecond))
		busy := func(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
			for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
			}
			return pages(1, "/", nil)(u, last)
		}
		doubted, err := dyno.Run(context.Background(), dyno.Load{URL: delayed(t, 0).URL, Scenario: busy,
			Connections: 4, Requests: 600, Drain: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(map[string]any{"before": runs[0], "after": runs[1], "doubted": doubted})
		if err != nil {
			t.Fatal(err)
		}
		machine := regexp.MustCompile(`"(kernel|cpu)":"[^"]*",`) // which is nobody's business
		text = append(machine.ReplaceAll(text, nil), '\n')
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if runs := readStored(); len(runs.Before) != 5 || len(runs.After) != 5 || runs.Doubted == nil ||
		runs.Doubted.Generator == dyno.OK {
		t.Errorf("%s has %d and %d runs, and %v", path, len(runs.Before), len(runs.After), runs.Doubted)
	}
}
