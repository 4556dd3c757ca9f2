package format

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
)

// make goldens sets it, for every package that has goldens.
var update = flag.Bool("update", false, "write the golden files")

// numbersOfPage is what the script of the page knows of numbers, and samples of what it must write.
// The tests of the script read the file, too.
const numbersOfPage = "../page/web/test/numbers.json"

// A sample is a number, and its text in the form, or in the unit, of that name.
type sample struct {
	Form string  `json:"form,omitempty"`
	Unit *string `json:"unit,omitempty"` // of an amount
	Tick bool    `json:"tick,omitempty"` // on an axis
	Of   float64 `json:"of"`
	Text string  `json:"text"`
}

func samples() (all []sample) {
	for _, f := range []struct {
		name string
		show func(float64) string
		of   []float64
	}{
		{"count", func(v float64) string { return Count(int64(v)) }, []float64{0, 999, -1234567, 1 << 53}},
		{"digits3", Digits3, []float64{0, 1.005, 9.995, 99.949, -12.34, 1484.5}},
		{"rate", Exact3, []float64{0.5, 12, 12.5, 99.96, 20000}},
		{"percent", Percent, []float64{0, 97.25, 100}},
		{"fine", func(v float64) string { return FinePercent(v / 100) }, []float64{0, 1e-6, 2.5, 99.5, 99.9988, 100, 1000}},
		{"duration", Micros, []float64{0, 0.0004, 0.412, 1.125, 1.375, 2.675, 999.6, 4123, 4e9}},
		{"bytes", Size, []float64{0, 0.5, 1.5, 999.6, 1.5e6, 5e15}},
		{"percentile", Percentile, []float64{0, 0.5, 0.99, 0.999, 0.99999}},
	} {
		for _, v := range f.of {
			all = append(all, sample{Form: f.name, Of: v, Text: f.show(v)})
		}
	}
	for _, a := range []struct {
		unit string
		of   float64
	}{{"µs", 1500}, {"µs per request", 1500}, {"MB", 12.34}, {"bytes/s", 1e4}, {"ratio", 0.87654}, {"percent", 1}, {"requests/s", 12}, {"", 1500}} {
		all = append(all, sample{Unit: &a.unit, Of: a.of, Text: Amount(a.unit, a.of)},
			sample{Unit: &a.unit, Tick: true, Of: a.of, Text: Tick(a.unit, a.of)})
	}
	return all
}

// The script of the page has the forms of this package, and writes what this package writes.
func TestNumbersOfThePage(t *testing.T) {
	script, err := Script()
	if err != nil {
		t.Fatal(err)
	}
	script = bytes.TrimSuffix(bytes.TrimPrefix(script, []byte("const numbersOfGo=")), []byte(";\n"))
	lines := [][]byte{}
	for _, s := range samples() {
		line, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	got := fmt.Appendf(nil, "{\"numbersOfGo\": %s,\n\"samples\": [\n%s\n]}\n", script, bytes.Join(lines, []byte(",\n")))
	if *update {
		if err := os.WriteFile(numbersOfPage, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(numbersOfPage)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("%s (make goldens writes it):\n%s\nwant\n%s", numbersOfPage, got, want)
	}
}
