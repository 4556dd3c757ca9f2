package format

import (
	"encoding/json"
	"os"
	"testing"
)

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
	shown := map[string]func(float64) string{"count": func(f float64) string { return Count(int64(f)) },
		"digits3": Digits3, "rate": Exact3, "duration": Micros, "bytes": Size, "percent": Percent}
	for name, f := range map[string]func(float64) string{"ratioAlone": RatioAlone,
		"byPercent": ByPercent, "finePercent": FinePercent, "bothWays": BothWays,
		"fourDigits": func(f float64) string { return SignificantDigits(f, 4) }} {
		shown[name] = f
	}
	several := map[string]func([]float64) string{
		"plusMinus": func(v []float64) string { return PlusMinus(v[0], v[1]) },
		"ratioIn":   func(v []float64) string { return RatioIn(v[0], v[1], v[2]) }}
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
