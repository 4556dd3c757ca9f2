package experiment

import (
	"fmt"
	"strconv"

	"dyno/internal/lab/experiment/quantity"
)

// The types of values, which package quantity reads.
type (
	Duration  = quantity.Duration
	Share     = quantity.Share
	Rate      = quantity.Rate
	Count     = quantity.Count
	Reconnect = quantity.Reconnect
	Status    = quantity.Status
	Statuses  = quantity.Statuses
	CPUList   = quantity.CPUList

	BodyRules   = quantity.BodyRules
	HeaderRules = quantity.HeaderRules

	Stream = quantity.Stream
	Texts  = quantity.Texts

	Mapping[T any] = quantity.Mapping[T]
	Entry[T any]   = quantity.Entry[T]
)

// UnmarshalText reads the short form, auto.
func (c *CPUs) UnmarshalText(b []byte) error {
	if string(b) != "auto" {
		return fmt.Errorf("%q is not auto, and not {generator: LIST, server: LIST}", b)
	}
	return nil
}

// UnmarshalText reads the short form, how many.
func (c *Clients) UnmarshalText(b []byte) error {
	n, err := strconv.Atoi(string(b))
	if err != nil || n < 1 || n > 64 {
		return fmt.Errorf("%q is not a number of clients; "+
			"write 1 to 64, or {count: N, isolate: netns}", b)
	}
	c.Count = n
	return nil
}

// UnmarshalText reads the short form, the mode.
func (f *Fairness) UnmarshalText(b []byte) error {
	if s := string(b); s != Strict && s != Warn && s != Off {
		return fmt.Errorf("%q is not strict, warn or off", s)
	}
	f.Mode = string(b)
	return nil
}
