package report

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"dyno/internal/result"
)

// A code that only some seconds had is a column of all.
func TestCSVHasCodes(t *testing.T) {
	r := closed()
	r.Series = []result.Point{{T: 1, Status: map[string]int64{"503": 2, "200": 7}}, {T: 2},
		{T: 3, Status: map[string]int64{"200": 1}}}
	var b strings.Builder
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"bytes_sent,status.200,status.503", "0,7,2", "0,0,0", "0,1,0"} {
		if line := strings.Split(b.String(), "\n")[i]; !strings.HasSuffix(line, want) {
			t.Errorf("line %d is %q, and should end in %q", i, line, want)
		}
	}
}

// The page writes numbers as this package does: both are held to one table.
func TestFormatsOfThePage(t *testing.T) {
	b, err := os.ReadFile("../page/testdata/formats.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		As     string
		Value  float64
		Values []float64 // where it takes several
		Text   string
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	shown := map[string]func(float64) string{"count": func(f float64) string { return countText(int64(f)) },
		"digits3": digits3, "rate": exact3, "duration": microsText, "bytes": sizeText, "percent": percentText}
	for name, f := range map[string]func(float64) string{"ratioAlone": ratioAlone, "inPercent": inPercent,
		"byPercent": byPercent, "objectivePercent": func(f float64) string { return percentage(f/100, 4) },
		"fourDigits": func(f float64) string { return significantDigits(f, 4) }} {
		shown[name] = f
	}
	several := map[string]func([]float64) string{
		"plusMinus": func(v []float64) string { return plusMinus(v[0], v[1]) },
		"ratioIn":   func(v []float64) string { return ratioIn(v[0], v[1], v[2]) }}
	for _, r := range rows {
		got := ""
		if f := several[r.As]; f != nil {
			got = f(r.Values)
		} else {
			got = shown[r.As](r.Value)
		}
		if got != r.Text {
			t.Errorf("%s(%v %v) is %q, want %q", r.As, r.Value, r.Values, got, r.Text)
		}
	}
	if len(rows) < 20 {
		t.Errorf("%d rows are no table", len(rows))
	}
}
