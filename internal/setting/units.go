package setting

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
)

// ParseDuration parses a Go duration or a bare number of seconds.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	f, bare := PlainNumber(s)
	switch {
	case bare && f*1e9 < math.MaxInt64:
		d = time.Duration(math.Round(max(f, -1) * 1e9))
	case bare, err != nil && isTooLarge(s):
		d = math.MaxInt64
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration; write 30s, 1m30s, 500ms, or seconds as 30", s)
	}
	switch {
	case d < 0, strings.HasPrefix(s, "-") && d == math.MaxInt64:
		return 0, fmt.Errorf("%q is negative", s)
	case d > loadplan.MaxTime:
		return 0, fmt.Errorf("%q is too long; the longest allowed is %.0fh", s, loadplan.MaxTime.Hours())
	}
	return d, nil
}

// isTooLarge reports whether s, which no duration can hold, is well-formed and only too large.
func isTooLarge(s string) bool {
	_, err := time.ParseDuration(strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '0'
		}
		return r
	}, s))
	return err == nil
}

// PlainNumber parses a decimal number such as 20, 0.5 or 1e4, and none of Go's other notations. The
// result is infinite if it is too large for a float64.
func PlainNumber(s string) (float64, bool) {
	if strings.Trim(s, "0123456789.eE+-") != "" || strings.HasPrefix(s, "+") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

// ParseNumber parses a number with an optional k, for thousands, or M.
func ParseNumber(s string) (float64, bool) {
	digits, factor := s, 1.0
	switch {
	case strings.HasSuffix(s, "k"), strings.HasSuffix(s, "K"):
		digits, factor = s[:len(s)-1], 1e3
	case strings.HasSuffix(s, "M"):
		digits, factor = s[:len(s)-1], 1e6
	}
	f, ok := PlainNumber(digits)
	return f * factor, ok
}

// ParseRate parses a positive number of events a second.
func ParseRate(s string) (loadplan.Rate, error) {
	f, ok := ParseNumber(strings.TrimSuffix(s, "/s"))
	switch {
	case !ok:
		return 0, fmt.Errorf("%q is not a rate; write a number a second, as 20000, 20k or 0.5", s)
	case f > loadplan.MaxRate:
		return 0, fmt.Errorf("%q is above %d/s", s, loadplan.MaxRate)
	case f < 0.0005:
		return 0, fmt.Errorf("%q is below 0.001/s", s)
	}
	return loadplan.RatePerSecond(f), nil
}

// ParseCount parses an integer. It accepts negative ones, because the caller that knows the minimum
// reports them better.
func ParseCount(s string) (int64, error) {
	f, ok := ParseNumber(s)
	switch {
	case !ok || f != math.Trunc(f):
		return 0, fmt.Errorf("%q is not a whole number; write 200, 10k or 2M", s)
	case f > 1<<53:
		return 0, fmt.Errorf("%q is above %d", s, int64(1)<<53)
	case f < -1<<53:
		return 0, fmt.Errorf("%q is negative", s)
	}
	return int64(f), nil
}

// ParseInt is ParseCount for an int.
func ParseInt(s string) (int, error) {
	n, err := ParseCount(s)
	return int(n), err
}

// Positive returns parse limited to values of at least 1.
func Positive[N int | int64](parse func(string) (N, error)) func(string) (N, error) {
	return func(s string) (N, error) {
		n, err := parse(s)
		if err == nil && n < 1 {
			err = fmt.Errorf("%q is below 1", s)
		}
		return n, err
	}
}

// rateOf is a rate of the library, of which 0 is none.
func rateOf(f float64) (loadplan.Rate, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		return 0, errors.New("is no number of requests a second")
	}
	r := loadplan.RatePerSecond(min(f, 10*loadplan.MaxRate)) // Check says what is too much
	if f > 0 && r == 0 {
		return 0, errors.New("is less than one request in 1,000 seconds")
	}
	return r, nil
}
