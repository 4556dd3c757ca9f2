package cookie

import (
	"bytes"
	"time"
)

// parseDate reads the date of the attribute Expires by the algorithm of RFC 6265, section 5.1.1,
// which finds its parts in any order. As in curl, the time may be missing, 30 February is 2 March,
// a month has three letters, and the year 70 is 2070. It returns s since the Unix epoch.
func parseDate(text []byte) (s int64, ok bool) {
	var d date
	for len(text) > 0 {
		end := bytes.IndexFunc(text, isDelimiter)
		if end < 0 {
			end = len(text)
		}
		d.take(text[:end])
		text = text[min(end+1, len(text)):]
	}
	if !d.hasDay || !d.hasMonth || !d.hasYear {
		return 0, false
	}
	switch {
	case d.year > 70 && d.year <= 99:
		d.year += 1900
	case d.year <= 70:
		d.year += 2000
	}
	t := time.Date(d.year, d.month, d.day, d.clock[0], d.clock[1], d.clock[2], 0, time.UTC)
	fits := d.year >= 1583 && d.day <= 31 && d.clock[0] < 24 && d.clock[1] < 60 && d.clock[2] <= 60
	return t.Unix(), fits
}

func isDelimiter(r rune) bool {
	return r == '\t' || r >= ' ' && r <= '/' || r >= ';' && r <= '@' || r >= '[' && r <= '`' ||
		r >= '{' && r <= '~'
}

// A date is what was found of one.
type date struct {
	year, day int
	month     time.Month
	clock     [3]int // hour, minute, second

	hasClock, hasDay, hasMonth, hasYear bool
}

// take takes what a token can be, and is not known yet.
func (d *date) take(token []byte) {
	if !d.hasClock {
		if clock, ok := parseClock(token); ok {
			d.clock, d.hasClock = clock, true
			return
		}
	}
	n, digits := leadingNumber(token)
	month := monthOf(token)
	switch {
	case !d.hasDay && (digits == 1 || digits == 2):
		d.day, d.hasDay = n, true
	case !d.hasMonth && month > 0:
		d.month, d.hasMonth = month, true
	case !d.hasYear && digits >= 2 && digits <= 4:
		d.year, d.hasYear = n, true
	}
}

// leadingNumber is the number that a text begins with, and how many digits it has: at most five are
// counted.
func leadingNumber(b []byte) (n, digits int) {
	for digits < min(5, len(b)) && b[digits] >= '0' && b[digits] <= '9' {
		n = n*10 + int(b[digits]-'0')
		digits++
	}
	return n, digits
}

// parseClock reads hours, minutes and seconds. What follows them is no digit, and does not count.
func parseClock(b []byte) (clock [3]int, ok bool) {
	for i := range clock {
		n, digits := leadingNumber(b)
		if digits != 1 && digits != 2 {
			return clock, false
		}
		clock[i], b = n, b[digits:]
		if i == len(clock)-1 {
			return clock, true
		}
		if len(b) == 0 || b[0] != ':' {
			return clock, false
		}
		b = b[1:]
	}
	return clock, false
}

// monthOf is the month of an English abbreviation; 0: it is none.
func monthOf(b []byte) time.Month {
	const names = "janfebmaraprmayjunjulaugsepoctnovdec"
	for m := time.January; m <= time.December; m++ {
		if equalFold(b, names[3*(m-1):3*m]) {
			return m
		}
	}
	return 0
}
