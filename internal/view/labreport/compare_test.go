package labreport

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

func TestCompareGolden(t *testing.T) {
	other := reporttest.Closed()
	other.ID, other.Plan.Target.URL = "20260102-160405-0001", "http://127.0.0.1:8081/"
	other.Plan.Target.Port, other.Rate.Completed = 8081, 300_000
	other.Latency = reporttest.Spread(3_000_000, 301)
	book := reporttest.Phrasebook{}
	for name, rs := range map[string][]*result.Result{
		"like":   {reporttest.Closed(), other},
		"users":  {reporttest.Shopping(), reporttest.Late()},
		"unlike": {reporttest.Closed(), reporttest.Late(), reporttest.Failing(), reporttest.Unreachable()},
	} {
		u := beside(t, rs...)
		book.Collect(name, unpairedPhrases(t, u))
		checkBoth(t, name, u)
	}
	for name, u := range unpaired(t) {
		book.Collect(name, unpairedPhrases(t, u))
	}
	golden(t, "comparison.sentences", book.Text())
}

// beside are single results that are compared.
func beside(t *testing.T, rs ...*result.Result) *judge.Unpaired {
	t.Helper()
	var groups []judge.Group
	for i, r := range rs {
		r.ID, r.Window.Started = "", r.Window.Started.Add(time.Duration(i)*time.Minute)
		groups = append(groups, judge.GroupResults(fmt.Sprint("result ", i), []*result.Result{r}))
	}
	return compared(t, groups...)
}

// besideText is what a terminal shows of single results.
func besideText(t *testing.T, rs ...*result.Result) string {
	t.Helper()
	return reporttest.Text(t, func(w *strings.Builder) error { return Unpaired(w, beside(t, rs...), format.Style{}) })
}

// A setting that is a whole number is shown as one, however large: it is a seed.
func TestSeedsDifferAsWholeNumbers(t *testing.T) {
	a, b := reporttest.Late(), reporttest.Late()
	a.Plan.Seed, b.Plan.Seed = 7_339_825_175_987_076, 7
	words := besideText(t, a, b)
	if !strings.Contains(words, "7339825175987076") || strings.Contains(words, "e+15") {
		t.Error(words)
	}
}

// A stored file may say anything, and what it says is not for the terminal.
func TestCompareIsPlain(t *testing.T) {
	words := besideText(t, reporttest.Hostile(), reporttest.Closed())
	if at := strings.IndexAny(words, "\x1b\r\x00"); at >= 0 {
		t.Errorf("%q", words[max(0, at-60):at+5])
	}
}

// A run that is too short to judge is not called ok.
func TestCompareOfShortRuns(t *testing.T) {
	short := reporttest.Closed()
	short.Generator.Verdict, short.Generator.Reasons = result.OK, []string{"too short to judge"}
	short.Generator.Doubts = []result.Doubt{{Cause: result.TooShort, Kind: result.Short, Verdict: result.OK}}
	words := besideText(t, short, reporttest.Closed())
	if n := strings.Count(words, "not judged"); n != 2 || strings.Contains(words, "A is ok") {
		t.Errorf("%d times not judged, want one in the table and one below:\n%s", n, words)
	}
}

// A server that starves some of its clients has no lower mean than one that does not.
func TestCompareMeans(t *testing.T) {
	fair, starves := reporttest.Closed(), reporttest.Closed()
	starves.Latency = reporttest.Spread(9000, 200)
	starves.Latency.Over = &durations.Over{US: 2e6, Count: 1000}
	for _, m := range comparedMeasures() {
		if m.name != "mean" {
			continue
		}
		of, _ := m.of(fair)
		least, _ := m.of(starves)
		if of != fair.Latency.Mean || least < 2e5 || m.valueText(starves, least) != "over "+format.Micros(least) ||
			m.valueText(fair, of) != format.Micros(of) {
			t.Errorf("%s and %s", m.valueText(fair, of), m.valueText(starves, least))
		}
	}
}
