package report

import (
	"math"
	"testing"
)

func TestUnits(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{countText(0), "0"}, {countText(999), "999"}, {countText(1000), "1,000"}, {countText(-1234567), "-1,234,567"},
		{countText(-100), "-100"}, {countText(math.MinInt64), "-9,223,372,036,854,775,808"},
		{Plural(1, "connection"), "1 connection"}, {Plural(2000, "thread"), "2,000 threads"},
		{digits3(0), "0.00"}, {digits3(1.234), "1.23"}, {digits3(9.996), "10.0"},
		{digits3(99.96), "100"}, {digits3(999.4), "999"}, {digits3(999.6), "1,000"},
		{digits3(332014.4), "332,014"}, {digits3(math.NaN()), "–"}, {digits3(-12.34), "-12.3"},
		{exact3(20000), "20,000"}, {exact3(0.5), "0.50"}, {exact3(100), "100"}, {exact3(12), "12"},
		{microsText(0), "0 s"}, {microsText(0.0001), "0.10 ns"}, {microsText(0.412), "412 ns"},
		{microsText(1), "1.00 µs"}, {microsText(83.14), "83.1 µs"}, {microsText(999.4), "999 µs"},
		{microsText(999.6), "1.00 ms"}, {microsText(0.9996), "1.00 µs"}, {microsText(4123), "4.12 ms"},
		{microsText(1.2e6), "1.20 s"}, {microsText(4e9), "4,000 s"},
		{secondsText(10), "10.0 s"}, {secondsText(0.0502), "50.2 ms"},
		{sizeText(0), "0 B"}, {sizeText(999), "999 B"}, {sizeText(999.6), "1.00 kB"}, {sizeText(1000), "1.00 kB"},
		{sizeText(1.5e6), "1.50 MB"}, {sizeText(999.9e6), "1.00 GB"}, {sizeText(5e15), "5,000 TB"},
		{percentText(97.25), "97.2 %"},
		{Clip("grün", 4), "grün"}, {Clip("grüne", 4), "grü…"}, {Clip("a", 0), "…"}, {Clip("", 0), ""},
		{plainLine(" a\x1b[31mb\r\nc\xffü "), "a·[31mb··c·ü"},
	} {
		if test.got != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
}
