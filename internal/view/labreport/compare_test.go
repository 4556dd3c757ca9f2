package labreport

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

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
		var text, page bytes.Buffer
		if err := errors.Join(Compare(&text, rs), CompareMarkdown(&page, rs)); err != nil {
			t.Fatal(err)
		}
		_, cautions, _, err := comparedParts(rs)
		if err != nil {
			t.Fatal(err)
		}
		phrases := reporttest.Phrases("caution", cautions...)
		book.Collect(name, phrases)
		golden(t, name+".compare", reporttest.LayoutOf(text.Bytes(), phrases))
		golden(t, name+".compare.md", reporttest.LayoutOf(page.Bytes(), phrases))
	}
	for name, u := range unpaired(t) {
		book.Collect(name, unpairedPhrases(t, u))
	}
	golden(t, "comparison.sentences", book.Text())
}

func TestCompareNeedsTwo(t *testing.T) {
	if err := Compare(&bytes.Buffer{}, []*result.Result{reporttest.Closed()}); err == nil {
		t.Error("one result was compared with nothing")
	}
}

// A setting that is a whole number is shown as one, however large: it is a seed.
func TestSeedsDifferAsWholeNumbers(t *testing.T) {
	a, b := reporttest.Late(), reporttest.Late()
	a.Plan.Seed, b.Plan.Seed = 7_339_825_175_987_076, 7
	words := reporttest.Text(t, func(w *strings.Builder) error { return Compare(w, []*result.Result{a, b}) })
	if !strings.Contains(words, "7339825175987076") || strings.Contains(words, "e+15") {
		t.Error(words)
	}
}

// A stored file may say anything, and what it says is not for the terminal.
func TestCompareIsPlain(t *testing.T) {
	var b bytes.Buffer
	if err := Compare(&b, []*result.Result{reporttest.Hostile(), reporttest.Closed()}); err != nil {
		t.Fatal(err)
	}
	if at := bytes.IndexAny(b.Bytes(), "\x1b\r\x00"); at >= 0 {
		t.Errorf("%q", b.Bytes()[max(0, at-60):at+5])
	}
}

// A run that is too short to judge is not called ok.
func TestCompareOfShortRuns(t *testing.T) {
	short := reporttest.Closed()
	short.Generator.Verdict, short.Generator.Reasons = result.OK, []string{"too short to judge"}
	short.Generator.Doubts = []result.Doubt{{Cause: result.TooShort, Kind: result.Short, Verdict: result.OK}}
	words := reporttest.Text(t, func(w *strings.Builder) error {
		return Compare(w, []*result.Result{short, reporttest.Closed()})
	})
	if n := strings.Count(words, "not judged"); n != 2 || strings.Contains(words, "A is ok") {
		t.Errorf("%d times not judged, want one in the table and one below:\n%s", n, words)
	}
}

func TestCompareReturnsWriteErrors(t *testing.T) {
	r := reporttest.Closed()
	if err := Compare(reporttest.Full{}, []*result.Result{r, r}); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
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
