// Package quantity has the types of values in an experiment file: durations, shares, rates, counts,
// statuses and lists of CPUs (quantity.go), mappings (mapping.go), what answers must be (rules.go),
// and how they are streams of events (stream.go). Each value reads what a person writes, such as
// 90s, 2%, 20k/s, 2xx or 0,2-3, and its error says how to write it. encode.go writes all of them,
// and whole files, as YAML.
package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"dyno/internal/setting"
)

// A Duration is written as in Go, or as a bare number of seconds.
type Duration time.Duration

// String is the duration as Go writes it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText is String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads "90s", "1m30s", or "90".
func (d *Duration) UnmarshalText(b []byte) error {
	t, err := setting.ParseDuration(string(b))
	*d = Duration(t)
	return err
}

// A Share is a part of 1, written in percent.
type Share float64

// String is the share in percent, as 2%.
func (s Share) String() string {
	return strconv.FormatFloat(math.Round(float64(s)*1e8)/1e6, 'f', -1, 64) + "%"
}

// MarshalText is String.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads "2%".
func (s *Share) UnmarshalText(b []byte) error {
	f, percent := strings.CutSuffix(string(b), "%")
	n, ok := setting.PlainNumber(f)
	switch {
	case !ok || !percent:
		return fmt.Errorf("%q is not a percentage; write one as 2%%", b)
	case n < 0 || n > 100:
		return fmt.Errorf("%q is not within 0%% to 100%%", b)
	}
	*s = Share(n / 100)
	return nil
}

// A Rate is a number of events a second.
type Rate float64

// String is the rate as a number.
func (r Rate) String() string { return strconv.FormatFloat(float64(r), 'f', -1, 64) }

// UnmarshalText reads "5000", "5k" or "5k/s".
func (r *Rate) UnmarshalText(b []byte) error {
	_, err := setting.ParseRate(string(b))
	f, _ := setting.ParseNumber(strings.TrimSuffix(string(b), "/s"))
	*r = Rate(f)
	return err
}

// A Count is a whole number of things, which may be written as 10k or 2M.
type Count int64

// UnmarshalText reads "200", "10k" or "2M".
func (c *Count) UnmarshalText(b []byte) error {
	n, err := setting.ParseCount(string(b))
	*c = Count(n)
	return err
}

// Reconnect is how many requests a connection carries; 0: no limit.
type Reconnect int

// MarshalText writes never, always, or the number.
func (r Reconnect) MarshalText() ([]byte, error) {
	return []byte(setting.ReconnectText(int(r))), nil
}

// UnmarshalText reads never, always, or a number of requests.
func (r *Reconnect) UnmarshalText(b []byte) error {
	n, err := setting.ParseReconnect(string(b))
	*r = Reconnect(n)
	return err
}

// A Status is a status code of HTTP, or a class of codes: From to To, both included.
type Status struct{ From, To int }

// String is "200" or "2xx".
func (s Status) String() string {
	if s.From != s.To {
		return strconv.Itoa(s.From/100) + "xx"
	}
	return strconv.Itoa(s.From)
}

// MarshalText is String.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads "200" or "2xx".
func (s *Status) UnmarshalText(b []byte) error {
	class, isClass := strings.CutSuffix(strings.ToLower(string(b)), "xx")
	n, err := strconv.ParseUint(class, 10, 16)
	switch {
	case err == nil && isClass && 1 <= n && n <= 5:
		*s = Status{int(n) * 100, int(n)*100 + 99}
	case err == nil && !isClass && 100 <= n && n <= 599:
		*s = Status{int(n), int(n)}
	default:
		return fmt.Errorf("%q is not a status; write a code from 100 to 599, or a class as 2xx", b)
	}
	return nil
}

// Statuses are the expected status codes: a list, or a single one.
type Statuses []Status

// UnmarshalText reads one Status.
func (s *Statuses) UnmarshalText(b []byte) error {
	*s = make(Statuses, 1)
	return (*s)[0].UnmarshalText(b)
}

// A CPUList is a set of CPU numbers, in order.
type CPUList []int

// UnmarshalText reads "0,2-3"; "auto" is none.
func (l *CPUList) UnmarshalText(b []byte) error {
	*l = nil
	if string(b) == "auto" {
		return nil
	}
	cpus, err := setting.ParseCPUs(string(b))
	*l = cpus
	return err
}

// MarshalText writes the numbers, with commas.
func (l CPUList) MarshalText() ([]byte, error) {
	var b []byte
	for i, c := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(c), 10)
	}
	return b, nil
}
