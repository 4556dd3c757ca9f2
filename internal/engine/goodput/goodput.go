// Package goodput has limits that a single request must keep so that its user is well served.
package goodput

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits are what a request must keep, each of them; the zero value has none.
type Limits []limit

type limit struct {
	of      int // in quantities
	ns      int64
	orEqual bool
}

// quantities are what a limit is of, in the order of Times.
var quantities = []string{"latency", "first_event", "token_time", "gap.max"}

// Aliases are other names of quantities.
var Aliases = map[string]string{"ttft": "first_event", "tpot": "token_time"}

// Times are what a request took, in ns; below 0: that is not known, and keeps no limit.
type Times [4]int64

// The places in Times.
const (
	Latency    = iota // from due to the end of the answer
	FirstEvent        // of a stream: from due to the first event
	TokenTime         // of a stream: see metric.Streams
	GapMax            // of a stream: the longest; 0: it has one event
)

// Parse reads limits, as "first_event<500ms,token_time<60ms".
func Parse(s string) (all Limits, err error) {
	for one := range strings.SplitSeq(s, ",") {
		l, err := parse(strings.TrimSpace(one))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(x limit) bool { return x.of == l.of }) {
			return nil, fmt.Errorf("%s has two limits", quantities[l.of])
		}
		all = append(all, l)
	}
	return all, nil
}

func parse(s string) (l limit, err error) {
	name, value, found := strings.Cut(s, "<")
	name = strings.TrimSpace(name)
	if value, l.orEqual = strings.CutPrefix(value, "="); !found {
		return l, fmt.Errorf("%q is no limit of a request, as latency<500ms", s)
	}
	if alias := Aliases[name]; alias != "" {
		name = alias
	}
	if l.of = slices.Index(quantities, name); l.of < 0 {
		hint := ""
		if strings.Contains(name, "gap") || strings.HasPrefix(name, "p") || strings.Contains(name, ".p") {
			hint = "; a single request has no percentile, and of its gaps there is gap.max"
		}
		return l, fmt.Errorf("%q is not one of %s%s", name, strings.Join(quantities, ", "), hint)
	}
	d, err := time.ParseDuration(strings.TrimSpace(value))
	if err != nil || d <= 0 {
		return l, fmt.Errorf("a duration with its unit is wanted behind %s<, as 500ms, not %q", name,
			value)
	}
	l.ns = int64(d)
	return l, nil
}

// OfStreams is the error of limits that only streams can keep; nil: there are none.
func (all Limits) OfStreams() error {
	for _, l := range all {
		if l.of != Latency {
			return errors.New(quantities[l.of] + " is of streams")
		}
	}
	return nil
}

// Has reports whether there is a limit of a quantity, which is its place in Times.
func (all Limits) Has(of int) bool {
	return slices.ContainsFunc(all, func(l limit) bool { return l.of == of })
}

// Met reports whether a request kept all limits.
func (all Limits) Met(t *Times) bool {
	for _, l := range all {
		if took := t[l.of]; took < 0 || took > l.ns || took == l.ns && !l.orEqual {
			return false
		}
	}
	return true
}
