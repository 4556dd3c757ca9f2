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
		As    string
		Value float64
		Text  string
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	shown := map[string]func(float64) string{"count": func(f float64) string { return Count(int64(f)) },
		"digits3": Digits3, "rate": Exact3, "duration": Micros, "bytes": Size, "percent": Percent,
		"finePercent": FinePercent, "fourDigits": func(f float64) string { return SignificantDigits(f, 4) }}
	for _, r := range rows {
		if got := shown[r.As](r.Value); got != r.Text {
			t.Errorf("%s(%v) is %q, want %q", r.As, r.Value, got, r.Text)
		}
	}
	if len(rows) < 20 {
		t.Errorf("%d rows are no table", len(rows))
	}
}
