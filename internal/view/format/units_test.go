package format

import (
	"math"
	"testing"
	"unicode/utf8"
)

func TestUnits(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(-1234567), "-1,234,567"},
		{Count(-100), "-100"}, {Count(math.MinInt64), "-9,223,372,036,854,775,808"},
		{Plural(1, "connection"), "1 connection"}, {Plural(2000, "thread"), "2,000 threads"},
		{Digits3(0), "0.00"}, {Digits3(1.234), "1.23"}, {Digits3(9.996), "10.0"},
		{Digits3(99.96), "100"}, {Digits3(999.4), "999"}, {Digits3(999.6), "1,000"},
		{Digits3(332014.4), "332,014"}, {Digits3(math.NaN()), "–"}, {Digits3(-12.34), "-12.3"},
		{Exact3(20000), "20,000"}, {Exact3(0.5), "0.50"}, {Exact3(100), "100"}, {Exact3(12), "12"},
		{Micros(0), "0 s"}, {Micros(0.0001), "0.10 ns"}, {Micros(0.412), "412 ns"},
		{Micros(1), "1.00 µs"}, {Micros(83.14), "83.1 µs"}, {Micros(999.4), "999 µs"},
		{Micros(999.6), "1.00 ms"}, {Micros(0.9996), "1.00 µs"}, {Micros(4123), "4.12 ms"},
		{Micros(1.2e6), "1.20 s"}, {Micros(4e9), "4,000 s"},
		{Seconds(10), "10.0 s"}, {Seconds(0.0502), "50.2 ms"},
		{Size(0), "0 B"}, {Size(999), "999 B"}, {Size(999.6), "1.00 kB"}, {Size(1000), "1.00 kB"},
		{Size(1.5e6), "1.50 MB"}, {Size(999.9e6), "1.00 GB"}, {Size(5e15), "5,000 TB"},
		{Size(-0.4), "0 B"}, {Size(math.NaN()), "–"}, {Digits3(1484.5), "1,484"}, {Digits3(1485.5), "1,486"},
		{Percent(97.25), "97.2 %"}, {FinePercent(99), "more than ten times"}, {FinePercent(1e-8), "below 0.00001 %"},
		{FinePercent(math.Inf(1)), "–"}, {FinePercent(2.5), "250 %"}, {FinePercent(0.9999), "99.99 %"},
		{Amount("µs per request", 1500), "1.50 ms per request"}, {Amount("MB", 12.34), "12.3 MB"},
		{Amount("bytes/s", 1e4), "10.0 kB"}, {Amount("requests/s", 12.5), "12.5 requests/s"}, {Amount("", 200), "200"},
		{Amount("ratio", 0.87654), "0.8765"}, {Amount("percent", 1), "1 %"},
		{Tick("µs", 5000), "5 ms"}, {Tick("", 12.5), "12.5"}, {Tick("", 1500), "1,500"}, {Tick("bytes", 0), "0 B"},
		{Clip("grün", 4), "grün"}, {Clip("grüne", 4), "grü…"}, {Clip("a", 0), "…"}, {Clip("", 0), ""},
		{PlainLine(" a\x1b[31mb\r\nc\xffü "), "a·[31mb··c·ü"},
	} {
		if test.got != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
}

// A text that is too long ends after a word, and never inside a number or between a number and its
// unit.
func TestClipText(t *testing.T) {
	const text = "16 trials: other programs used at least 25.4 to 73.8 % of its CPUs"
	for n, want := range map[int]string{66: text, 65: "16 trials: other programs used at least 25.4 to 73.8 % of its …",
		53: "16 trials: other programs used at least 25.4 to …", 45: "16 trials: other programs used at least …"} {
		if got := ClipText(text, n); got != want || utf8.RuneCountInString(got) > n {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := WrapLines("it changed by −20 % here", 18); got[0] != "it changed by" {
		t.Errorf("%q", got)
	}
	if got := ClipText("a-single-word", 5); got != "a-si…" {
		t.Errorf("%q", got)
	}
	for _, line := range FirstLines(text, 20, 2) {
		if utf8.RuneCountInString(line) > 20 {
			t.Errorf("%q", line)
		}
	}
}
