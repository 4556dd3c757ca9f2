package format

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"dyno/internal/digits"
)

// A form is how numbers of a kind are written. It is a value because the page writes numbers too,
// where no Go can be asked: at the cursor of a plot, and while a load runs. The page has the forms
// from here (see Script), so there is one rule for terminal and page.
type form struct {
	Steps []step `json:"steps"`           // from the highest
	Trim  bool   `json:"trim,omitempty"`  // no zeros at the end of decimals
	Whole bool   `json:"whole,omitempty"` // whole numbers have no decimals
}

// A step is of numbers whose absolute value is From at least: the number divided by Size, and Unit.
// With Only, Unit is all that is written.
type step struct {
	From     float64 `json:"from"`
	Size     float64 `json:"size"`
	Decimals int     `json:"decimals"`
	Unit     string  `json:"unit"`
	Only     bool    `json:"only,omitempty"`
}

// A unit is how large one is, in the unit of the quantity, and its name.
type unit struct {
	size float64
	name string
}

// aboveZero is the least number that is.
const aboveZero = math.SmallestNonzeroFloat64

var (
	digits3  = form{Steps: threeDigits(unit{1, ""}, 0)}
	rate     = form{Steps: threeDigits(unit{1, ""}, 0), Whole: true}
	percent  = form{Steps: threeDigits(unit{1, " %"}, 0)}
	duration = form{Steps: inLargestUnit(aboveZero, " s", unit{1e6, " s"}, unit{1e3, " ms"},
		unit{1, " µs"}, unit{1e-3, " ns"})}
	size = form{Steps: inLargestUnit(999.5, " B", unit{1e12, " TB"}, unit{1e9, " GB"},
		unit{1e6, " MB"}, unit{1e3, " kB"})}
	percentile = form{Steps: []step{{Size: 1, Decimals: 7}}, Trim: true}
	fine       = form{Steps: percents(4, near100()...), Trim: true}
	ratio      = form{Steps: []step{{Size: 1, Decimals: 4}}, Trim: true}
)

// units are the forms of amounts whose unit begins so. The number is multiplied by Times, and with
// Rest the rest of the unit follows.
var units = []struct {
	Begins string  `json:"begins"`
	Form   string  `json:"form"`
	Times  float64 `json:"times"`
	Rest   bool    `json:"rest"`
	form   *form
}{
	{"percent", "fine", 1, false, &fine}, {"ratio", "ratio", 1, false, &ratio},
	{"µs", "duration", 1, true, &duration}, {"MB", "bytes", 1e6, false, &size},
	{"bytes", "bytes", 1, false, &size}, {"", "rate", 1, true, &rate},
}

// Script is what the page's script knows of numbers: the forms by their names, and units.
func Script() ([]byte, error) {
	forms := map[string]form{"digits3": digits3, "rate": rate, "percent": percent, "fine": fine,
		"duration": duration, "bytes": size, "ratio": ratio, "count": {Steps: []step{{Size: 1}}},
		"percentile": percentile, "number": {Steps: significant(4, 3, -12), Trim: true}}
	b, err := json.Marshal(map[string]any{"forms": forms, "units": units})
	return append(append([]byte("const numbersOfGo="), b...), ";\n"...), err
}

// threeDigits are numbers to three significant digits, or to the whole number from 1,000, those of
// one and more; others, from least on, have two decimals.
func threeDigits(u unit, least float64) []step {
	return []step{{From: 99.95 * u.size, Size: u.size, Unit: u.name},
		{From: 9.995 * u.size, Size: u.size, Decimals: 1, Unit: u.name},
		{From: least, Size: u.size, Decimals: 2, Unit: u.name}}
}

// inLargestUnit is three digits in the largest of the units of which there is at least one, after
// rounding: 999.9 µs are 1.00 ms. What is below least is a whole number of the unit of below.
func inLargestUnit(least float64, below string, all ...unit) (steps []step) {
	for i, u := range all {
		from := 0.9995 * u.size
		if i == len(all)-1 {
			from = least
		}
		steps = append(steps, threeDigits(u, from)...)
	}
	return append(steps, step{Size: 1, Unit: below})
}

// significant are numbers to n significant digits, by their powers of ten.
func significant(n, most, least int) (steps []step) {
	for p := most; p >= least; p-- {
		steps = append(steps, step{From: math.Pow10(p), Size: 1, Decimals: max(n-1-p, 0)})
	}
	return append(steps, step{Size: 1})
}

// percents are the steps of a percentage to n digits, with more of them where it is near 100 %.
func percents(n int, more ...step) []step {
	steps := []step{{From: 100 * mostShare, Unit: "more than ten times", Only: true}}
	for _, s := range append(more, significant(n, 2, leastPower)...) {
		if s.From >= steps[len(steps)-1].From {
			continue
		}
		if s.Unit = " %"; s.From == 0 {
			steps = append(steps, step{From: aboveZero, Unit: "below 0.00001 %", Only: true})
		}
		steps = append(steps, s)
	}
	return steps
}

// near100 are steps with two digits of what 100 % has more.
func near100() []step {
	steps := []step{{From: 100, Size: 1, Decimals: 1}}
	for k := 10; k >= 0; k-- {
		steps = append(steps, step{From: 100 - math.Pow10(-k), Size: 1, Decimals: k + 2})
	}
	return steps
}

// write is v as its step has it.
func (f form) write(v float64, trim bool) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return digits.None
	}
	i := 0
	for math.Abs(v) < f.Steps[i].From {
		i++
	}
	s := f.Steps[i]
	if s.Only {
		return s.Unit
	}
	decimals := s.Decimals
	if f.Whole && v == math.Trunc(v) {
		decimals = 0
	}
	if v /= s.Size; decimals == 0 {
		v = math.RoundToEven(v) + 0 // no −0
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if (trim || f.Trim) && decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return digits.Thousands(text) + s.Unit
}

// Amount is a value in a unit, such as "percent", "ratio", "MB", "µs per request", or "" of what is
// counted.
func Amount(unit string, v float64) string { return amount(unit, v, false) }

// Tick is an Amount on an axis, without zeros at the end of its decimals.
func Tick(unit string, v float64) string { return amount(unit, v, true) }

func amount(unit string, v float64, trim bool) string {
	for _, u := range units {
		rest, of := strings.CutPrefix(unit, u.Begins)
		if !of {
			continue
		}
		text := u.form.write(v*u.Times, trim)
		if !u.Rest || rest == "" {
			return text
		} else if u.Begins == "" {
			rest = " " + rest
		}
		return text + rest
	}
	return digits.None // not reached: every unit begins with ""
}
