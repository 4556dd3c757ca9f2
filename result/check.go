package result

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"dyno/metric"
)

var wellFormedID = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$`)

// Check says all that keeps a result that was read from being one that dyno could have
// written: fields that are missing, sums that do not add up.
func Check(r *Result) error {
	var all []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	wrong(r.ID != "" && !wellFormedID.MatchString(r.ID), "its id is %q, not of the form "+
		"20260102-150405-4f2a", r.ID)
	wrong(r.Window.Started.IsZero(), "window.started is missing")
	models := []string{ClosedLoop, OpenLoop}
	wrong(!slices.Contains(models, r.Model), "its model is %q, not one of %q", r.Model, models)
	verdicts := []string{OK, Suspect, ClientBound}
	wrong(!slices.Contains(verdicts, r.Generator.Verdict), "its verdict is %q, not one of %q",
		r.Generator.Verdict, verdicts)
	wrong(r.Plan.Target.URL == "", "plan.target.url is missing")
	q := r.Requests
	wrong(q.Sent != q.Completed+q.Errors+q.Unfinished || min(q.Completed, q.Errors, q.Unfinished) < 0,
		"requests do not add up: %d sent, %d completed, %d errors, %d unfinished", q.Sent, q.Completed,
		q.Errors, q.Unfinished)
	wrong(min(r.Rate.Sent, r.Rate.Completed, r.Window.MeasuredS, r.Window.WarmupS) < 0,
		"a rate or a time is below 0")
	for _, d := range []struct {
		name string
		of   *Distribution
	}{{"latency", r.Latency}, {"service", r.Service}, {"phases.connect", r.Phases.Connect},
		{"phases.first_byte", r.Phases.FirstByte}} {
		if d.of != nil {
			all = append(all, checkDistribution(d.name, d.of))
		}
	}
	return errors.Join(all...)
}

func checkDistribution(name string, d *Distribution) error {
	ascending := []float64{0, d.Min, d.P50, d.P75, d.P90, d.P95, d.P99, d.P999, d.P9999}
	if !slices.IsSorted(ascending) || d.P50 > d.Max*1.01 {
		return fmt.Errorf("%s: its percentiles do not ascend", name)
	}
	if d.HDR == "" {
		return nil
	}
	if h, err := metric.Decode(d.HDR); err != nil {
		return fmt.Errorf("%s.hdr: %w", name, err)
	} else if h.Count != d.Count {
		return fmt.Errorf("%s: hdr has %d values, and count is %d", name, h.Count, d.Count)
	}
	return nil
}
