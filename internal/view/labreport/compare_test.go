package labreport

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/result/streamed"
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
		"routes": {streaming(1), streaming(2)},
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

// streaming is a run of streams, one more route of which streams in the second.
func streaming(n float64) *result.Result {
	r, times := reporttest.Closed(), func(us float64, count int64) *streamed.Times {
		return &streamed.Times{Count: count, P50: us, P99: 2 * us, Max: 3 * us}
	}
	r.Routes = []result.Route{
		{Name: "POST /chat|now", Completed: 500, Errors: 3, First: times(n*100e3, 500), Gap: times(20e3, 9000), Token: times(n*21e3, 480),
			Stalled: int64(n), Cut: 2, Rate: &streamed.Rate{Events: 900 / n, Tokens: 950 / n}, Goodput: &streamed.Good{Count: 450, Share: 0.9 / n, Rate: 45 / n},
			Over: &durations.Over{US: 5e6, Count: 20}},
		{Name: "POST /short", Completed: 100, First: times(1000, 100), Gap: times(1000, 50)}, // too few for p99
		{Name: "GET /plain", Completed: 100, Goodput: new(streamed.Good)}, {Name: "GET /other", Completed: 100}}
	if n > 1 {
		r.Routes[3].First, r.Routes[2].Goodput = times(5000, 400), nil
	}
	return r
}

// The JSON of a comparison has each route's values, and the text those of the first routes.
func TestCompareRoutes(t *testing.T) {
	a, b := streaming(1), streaming(2)
	u := beside(t, a, b)
	want := map[string]map[string]float64{
		"POST /chat|now": {"first_event_p50": 200e3, "first_event_p99": 400e3, "gap_p50": 20e3, "gap_p99": 40e3, "token_time_p50": 42e3,
			"token_time_p99": 84e3, "good": 45, "goodput": 22.5, "events": 450, "tokens": 475, "cut": 2, "stalled": 2},
		"POST /short": {"first_event_p50": 1000, "gap_p50": 1000, "gap_p99": 2000, "cut": 0, "stalled": 0},
		"GET /other":  {"first_event_p50": 5000, "first_event_p99": 10000, "cut": 0, "stalled": 0}}
	if got := u.Groups[1].Samples[0].Runs[0].Routes; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for i := range 30 {
		a.Routes = append(a.Routes, a.Routes[0])
		a.Routes[len(a.Routes)-1].Name = fmt.Sprint("route ", i)
	}
	words := besideText(t, a, b)
	if !strings.Contains(words, "14 routes more are in --json.") || !strings.Contains(words, "route 15") || strings.Contains(words, "route 16") {
		t.Error(words)
	}
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
