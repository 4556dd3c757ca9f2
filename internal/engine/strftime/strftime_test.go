package strftime

import (
	"testing"
	"time"
)

// at is an instant all of whose parts differ.
var at = time.Date(2026, 1, 2, 15, 4, 5, 678e6, time.UTC)

// Formats write what hurl writes with them (bench/hurl/testdata/dates.hurl).
func TestAppend(t *testing.T) {
	for format, want := range map[string]string{
		"%Y %C %y %q":             "2026 20 26 1",
		"%m %b %B %h %d %e %j":    "01 Jan January Jan 02  2 002",
		"%a %A %w %u":             "Fri Friday 5 5",
		"%U %W %G %g %V":          "00 00 2026 26 01",
		"%H %k %I %l %P %p %M %S": "15 15 03  3 pm PM 04 05",
		"%f %.f %.3f %.6f %.9f":   "678000000 .678 .678 .678000 .678000000",
		"%3f%6f%9f":               "678678000678000000",
		"%D %x %F %v":             "01/02/26 01/02/26 2026-01-02  2-Jan-2026",
		"%R %T %X %r":             "15:04 15:04:05 15:04:05 03:04:05 PM",
		"%Z %z %:z %::z %:::z":    "UTC +0000 +00:00 +00:00:00 +00",
		"%c|%+|%s":                "Fri Jan  2 15:04:05 2026|2026-01-02T15:04:05.678+00:00|1767366245",
		"%%%t%n":                  "%\t\n",
		"%-d %_m %0e %-j %_I":     "2  1 02 2  3",
		"é %Y":                    "é 2026",
		"":                        "",
	} {
		f, err := Parse(format)
		if got := string(f.Append(nil, at)); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", format, got, err, want)
		}
	}
	for _, format := range []string{"%", "%Q", "%-", "%-b", "%.", "%.4f", "%4f", "%:Y", "%::::z", "%#Y", "a%"} {
		if _, err := Parse(format); err == nil {
			t.Errorf("%q is a format", format)
		}
	}
}

func TestRead(t *testing.T) {
	for _, test := range []struct{ format, text, want string }{
		{"%+", "2026-01-02T15:04:05.678Z", "2026-01-02T15:04:05.678Z"},
		{"%F %T%.f %:z", "2020-08-27 09:07:46.5 +02:00", "2020-08-27T07:07:46.5Z"},
		{"%F %T %z", "2020-08-27 09:07:46 -0130", "2020-08-27T10:37:46Z"},
		{"%F %H:%M %#z", "2020-08-27 09:07 +02", "2020-08-27T07:07:00Z"},
		{"%F", "2024-12-31", "2024-12-31T00:00:00Z"},
		{"%F %H", "2024-12-31 10", "2024-12-31T00:00:00Z"}, // the minute is missing
		{"%a, %d %b %Y %T GMT", "Tue, 08 JAN 2013 01:06:09 GMT", "2013-01-08T01:06:09Z"},
		{"%A %B %e %Y", "tue January  8 2013", "2013-01-08T00:00:00Z"},
		{"%m/%d/%y %I:%M %p", "1/2/24 12:30 am", "2024-01-02T00:30:00Z"},
		{"%y-%m-%d", "70-01-01", "1970-01-01T00:00:00Z"},
		{"%C%y-%m-%d", "1970-01-01", "1970-01-01T00:00:00Z"},
		{"%s", "1700000000", "2023-11-14T22:13:20Z"},
		{"%G-W%V-%u", "2024-W07-3", "2024-02-14T00:00:00Z"},
		{"%Y %U %a", "2024 06 Wed", "2024-02-14T00:00:00Z"},
		{"%Y %W %w", "2024 07 3", "2024-02-14T00:00:00Z"},
		{"%Y %j", "2024 060", "2024-02-29T00:00:00Z"},
		{"%T.%f %F", "01:02:03.9 2024-01-01", "2024-01-01T01:02:03.000000009Z"},
		{"%T,%3f %F", "01:02:03,045 2024-01-01", "2024-01-01T01:02:03.045Z"},
		{"%Z %F", "CEST 2024-01-01", "2024-01-01T00:00:00Z"},
		{"%F", "2023-02-29", ""}, {"%F", "2024-12-31 x", ""}, {"%F %H:%M", "2024-12-31 24:00", ""},
		{"%a %F", "Mon 2024-12-31", ""}, {"%F %H:%M %p", "2024-01-02 12:30 am", ""}, {"%Y-%m", "2024-01", ""},
		{"%G-W%V", "2024-W07", ""}, {"%F", "2024-13-01", ""}, {"%H:%M", "10:11", ""}, {"%F", "", ""},
		{"%Y %Y-%m-%d", "2023 2024-01-01", ""}, {"%F %z", "2024-01-01 0100", ""}, {"%b", "Foo", ""},
	} {
		f, err := Parse(test.format)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Read(test.text)
		if (err == nil) != (test.want != "") || err == nil && got.Format(time.RFC3339Nano) != test.want {
			t.Errorf("%q as %s: %v, %v; want %q", test.text, test.format, got, err, test.want)
		}
	}
}

// Nothing makes reading panic, and what a complete format has written it reads again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"%F %T%.f", "%c", "%s", "%G-W%V-%u %R", "%D %r %:z", "%#z%3f%-d"} {
		f.Add(seed, "2024-01-01 10:11:12.5", int64(1_767_366_245))
	}
	f.Fuzz(func(t *testing.T, format, text string, seconds int64) {
		c, err := Parse(format)
		if err != nil {
			return
		}
		_, _ = c.Read(text)
		instant := time.Unix(seconds%(1<<34), 0).UTC()
		whole, err := Parse("%+ " + format)
		if err != nil {
			t.Fatal(err)
		}
		got, err := whole.Read(string(whole.Append(nil, instant)))
		if err == nil && !got.Equal(instant) {
			t.Errorf("%s: %v is read as %v", format, instant, got)
		}
	})
}
