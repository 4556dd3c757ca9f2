package strftime

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A reading is what was read of a text so far.
type reading struct {
	rest   string
	fields map[byte]int64 // by specifier; h: the hour of twelve; p: 1 of PM; z: seconds east of UTC
}

// Read reads an instant: of a text with an offset, else of a date and time in UTC, else of a date,
// whose time is midnight. The text has to be all that the format says, and its parts have to fit.
func (f Format) Read(text string) (time.Time, error) {
	r := reading{rest: text, fields: map[byte]int64{}}
	for i := range f.items {
		if !r.read(&f.items[i]) {
			return time.Time{}, fmt.Errorf("%.60q is no date of that format: %.40q does not fit", text,
				r.rest)
		}
	}
	if r.rest != "" {
		return time.Time{}, fmt.Errorf("%.60q is no date of that format: %.40q is left", text, r.rest)
	}
	t, ok := r.instant()
	if !ok {
		return t, fmt.Errorf("%.60q is no date: parts are missing, or do not fit", text)
	}
	return t, nil
}

// widths are how many digits a number has at most.
var widths = map[byte]int{'Y': 4, 'G': 4, 'q': 1, 'w': 1, 'u': 1, 'j': 3, 's': 19}

// aliases are specifiers that set the same field.
var aliases = map[byte]byte{'e': 'd', 'k': 'H', 'l': 'I'}

// read reads what an item stands for.
func (r *reading) read(i *item) bool {
	switch i.spec {
	case 0:
		rest, is := strings.CutPrefix(r.rest, i.text)
		r.rest = rest
		return is
	case ' ':
		r.skipSpace()
		return true
	case 'b', 'B':
		return r.name('m', i.spec == 'B', 12, func(n int) string { return time.Month(n + 1).String() }, 1)
	case 'a', 'A':
		return r.name('w', i.spec == 'A', 7, func(n int) string { return time.Weekday(n).String() }, 0)
	case 'p', 'P':
		return r.half()
	case 'Z':
		r.rest = strings.TrimLeftFunc(r.rest, func(c rune) bool { return !unicode.IsSpace(c) })
		return true
	case 'z', '+':
		return r.offset(i.minutes || i.spec == '+', i.minutes)
	case 'f':
		return r.fraction(i)
	}
	r.skipSpace()
	width, signed := widths[i.spec], i.spec == 'Y' || i.spec == 'G'
	if width == 0 {
		width = 2
	}
	sign := int64(1)
	if signed && r.rest != "" && (r.rest[0] == '-' || r.rest[0] == '+') {
		if width = 9; r.rest[0] == '-' {
			sign = -1
		}
		r.rest = r.rest[1:]
	}
	v, ok := r.digits(1, width)
	spec := i.spec
	if is, has := aliases[spec]; has {
		spec = is
	}
	if spec == 'u' {
		spec, ok, v = 'w', ok && v >= 1 && v <= 7, v%7
	}
	return ok && r.set(spec, sign*v)
}

func (r *reading) skipSpace() { r.rest = strings.TrimLeftFunc(r.rest, unicode.IsSpace) }

// ranges are the least and greatest values of fields.
var ranges = map[byte][2]int64{'m': {1, 12}, 'd': {1, 31}, 'q': {1, 4}, 'j': {1, 366}, 'w': {0, 6},
	'U': {0, 53}, 'W': {0, 53}, 'V': {1, 53}, 'H': {0, 23}, 'I': {1, 12}, 'M': {0, 59}, 'S': {0, 60}}

// set sets a field, which has no other value yet.
func (r *reading) set(field byte, v int64) bool {
	if limits, has := ranges[field]; has && (v < limits[0] || v > limits[1]) {
		return false
	}
	is, has := r.fields[field]
	r.fields[field] = v
	return !has || is == v
}

// digits reads a number of digits.
func (r *reading) digits(least, most int) (v int64, ok bool) {
	n := 0
	for n < len(r.rest) && n < most && '0' <= r.rest[n] && r.rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseInt(r.rest[:n], 10, 64)
	r.rest = r.rest[n:]
	return v, n >= least && err == nil
}

// name reads one of n names, in any case: its first three letters or, if long is allowed, all.
func (r *reading) name(field byte, long bool, n int, of func(int) string, first int64) bool {
	begins := func(name string) bool {
		return len(r.rest) >= len(name) && strings.EqualFold(r.rest[:len(name)], name)
	}
	for i := range n {
		name := of(i)
		if !begins(name[:3]) {
			continue
		}
		if !long || !begins(name) {
			name = name[:3]
		}
		r.rest = r.rest[len(name):]
		return r.set(field, int64(i)+first)
	}
	return false
}

// half reads AM or PM.
func (r *reading) half() bool {
	if len(r.rest) < 2 || r.rest[1]|0x20 != 'm' || r.rest[0]|0x20 != 'a' && r.rest[0]|0x20 != 'p' {
		return false
	}
	v := int64(0)
	if r.rest[0]|0x20 == 'p' {
		v = 1
	}
	r.rest = r.rest[2:]
	return r.set('p', v)
}

// offset reads how far a time is from UTC, as +0200 or +02:00.
func (r *reading) offset(zulu, noMinutes bool) bool {
	r.skipSpace()
	if zulu && r.rest != "" && r.rest[0]|0x20 == 'z' {
		r.rest = r.rest[1:]
		return r.set('z', 0)
	}
	rest, minus := strings.CutPrefix(r.rest, "-")
	if !minus {
		var plus bool
		if rest, plus = strings.CutPrefix(r.rest, "+"); !plus {
			if rest, minus = strings.CutPrefix(r.rest, "\u2212"); !minus { // the sign of ISO 8601
				return false
			}
		}
	}
	r.rest = rest
	hours, ok := r.digits(2, 2)
	if !ok {
		return false
	}
	had := len(r.rest)
	r.rest = strings.TrimLeftFunc(r.rest, func(c rune) bool { return c == ':' || unicode.IsSpace(c) })
	minutes, ok := r.digits(2, 2)
	if !ok && (!noMinutes || had > 0) || minutes > 59 || hours > 23 {
		return false
	}
	v := hours*3600 + minutes*60
	if minus {
		v = -v
	}
	return r.set('z', v)
}

// fraction reads a fraction of a second.
func (r *reading) fraction(i *item) bool {
	if i.dot {
		rest, is := strings.CutPrefix(r.rest, ".")
		if !is {
			return true
		}
		r.rest = rest
	}
	switch {
	case i.digits > 0:
		v, ok := r.digits(i.digits, i.digits)
		return ok && r.set('f', scaled(v, i.digits))
	case i.dot:
		had := len(r.rest)
		v, ok := r.digits(1, 9)
		n := had - len(r.rest)
		r.rest = strings.TrimLeft(r.rest, "0123456789") // which are less than a nanosecond
		return ok && r.set('f', scaled(v, n))
	}
	r.skipSpace()
	v, ok := r.digits(1, 9)
	return ok && r.set('f', v)
}

// scaled is a fraction of so many digits in ns.
func scaled(v int64, digits int) int64 {
	for ; digits < 9; digits++ {
		v *= 10
	}
	return v
}

// instant is what the fields say together.
func (r *reading) instant() (t time.Time, ok bool) {
	if s, has := r.fields['s']; has {
		return time.Unix(s, r.fields['f']).UTC(), true
	}
	day, ok := r.date()
	if !ok || r.hoursDiffer() {
		return t, false
	}
	at, ok := r.timeOfDay()
	if !ok {
		return day, true
	}
	return day.Add(at - time.Duration(r.fields['z'])*time.Second), true
}

// date is the day at midnight.
func (r *reading) date() (t time.Time, ok bool) {
	f := r.fields
	year, has := f['Y']
	short, hasShort := f['y']
	switch century, hasCentury := f['C']; {
	case has && hasShort && short != year%100, has && hasCentury && century != year/100:
		return t, false
	case has:
	case hasCentury && hasShort:
		year = century*100 + short
	case hasShort && short < 70:
		year = 2000 + short
	case hasShort:
		year = 1900 + short
	default:
		return r.isoDate()
	}
	month, hasMonth := f['m']
	dayOfMonth, hasDay := f['d']
	ordinal, hasOrdinal := f['j']
	switch {
	case hasMonth && hasDay:
		t = time.Date(int(year), time.Month(month), int(dayOfMonth), 0, 0, 0, 0, time.UTC)
		if t.Month() != time.Month(month) || t.Day() != int(dayOfMonth) {
			return t, false
		}
	case hasOrdinal:
		t = time.Date(int(year), 1, int(ordinal), 0, 0, 0, 0, time.UTC)
	default:
		return r.weekDate(year)
	}
	return t, r.agrees(t)
}

// weekDate is the date of a week of a year and a day of it.
func (r *reading) weekDate(year int64) (t time.Time, ok bool) {
	weekday, has := r.fields['w']
	begin := time.Date(int(year), 1, 1, 0, 0, 0, 0, time.UTC)
	week, sundays := r.fields['U']
	first, days := int64(0), weekday // of a week
	if !sundays {
		if week, sundays = r.fields['W']; !sundays {
			return r.isoDate()
		}
		first, days = 1, (weekday+6)%7
	}
	to := (first + 7 - int64(begin.Weekday())) % 7 // days to the first week's begin
	t = begin.AddDate(0, 0, int(to+(week-1)*7+days))
	return t, has && t.Year() == int(year) && r.agrees(t)
}

// isoDate is the date of a week of ISO 8601.
func (r *reading) isoDate() (t time.Time, ok bool) {
	year, hasYear := r.fields['G']
	week, hasWeek := r.fields['V']
	weekday, hasDay := r.fields['w']
	if !hasYear || !hasWeek || !hasDay {
		return t, false
	}
	fourth := time.Date(int(year), 1, 4, 0, 0, 0, 0, time.UTC) // is always in the first week
	monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
	t = monday.AddDate(0, 0, int(week-1)*7+int(weekday+6)%7)
	return t, r.agrees(t)
}

// agrees reports whether a date is what the fields say that describe one.
func (r *reading) agrees(t time.Time) bool {
	for spec, v := range r.fields {
		if strings.IndexByte("YymdjwUWGgVqC", spec) < 0 {
			continue
		}
		if is, _, _ := number(spec, t); is != v {
			return false
		}
	}
	return true
}

// hoursDiffer reports whether the hour of a day is another than that of the half of the day.
func (r *reading) hoursDiffer() bool {
	hour, has := r.fields['H']
	hour12, has12 := r.fields['I']
	half, hasHalf := r.fields['p']
	return has && (has12 && hour12%12 != hour%12 || hasHalf && half != hour/12)
}

// timeOfDay is the time since midnight; it is not ok if the hour or the minute is missing, or if
// there is a fraction of no second.
func (r *reading) timeOfDay() (d time.Duration, ok bool) {
	hour, has := r.fields['H']
	if !has {
		hour12, has12 := r.fields['I']
		half, hasHalf := r.fields['p']
		if !has12 || !hasHalf {
			return 0, false
		}
		hour = hour12%12 + 12*half
	}
	minute, hasMinute := r.fields['M']
	second, hasSecond := r.fields['S']
	ns, hasFraction := r.fields['f']
	if !hasMinute || hasFraction && !hasSecond {
		return 0, false
	}
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second + time.Duration(ns), true
}
