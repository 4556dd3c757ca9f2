package report

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
	shown := map[string]func(float64) string{"count": func(f float64) string { return count(int64(f)) },
		"digits3": digits3, "rate": exact3, "duration": micros, "bytes": size, "percent": percent}
	for _, r := range rows {
		if got := shown[r.As](r.Value); got != r.Text {
			t.Errorf("%s(%v) is %q, want %q", r.As, r.Value, got, r.Text)
		}
	}
	if len(rows) < 20 {
		t.Errorf("%d rows are no table", len(rows))
	}
}
