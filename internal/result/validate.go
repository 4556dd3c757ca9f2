package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/lazyregexp"
	"dyno/internal/result/durations"
)

var wellFormedID = lazyregexp.New(`^[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$`)

// Check returns an error if dyno cannot have written the result: keys are missing, or sums do not
// add up.
func Check(r *Result) error {
	var all []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	const told = 6
	lacks := strings.Join(r.missing[:min(told, len(r.missing))], ", ")
	if more := len(r.missing) - told; more > 0 {
		lacks += fmt.Sprintf(" and %d more", more)
	}
	wrong(lacks != "", "it lacks what every result has: %s", lacks)
	wrong(r.ID != "" && !wellFormedID().MatchString(r.ID), "its id is %q, not of the form "+
		"20260102-150405-4f2a", r.ID)
	wrong(r.Window.Started.IsZero() && !slices.Contains(r.missing, "window"),
		"window.started is missing")
	models := []string{ClosedLoop, OpenLoop}
	wrong(!slices.Contains(models, r.Model), "its model is %q, not one of %q", r.Model, models)
	verdicts := []string{OK, Suspect, ClientBound}
	wrong(!slices.Contains(verdicts, r.Generator.Verdict), "its verdict is %q, not one of %q",
		r.Generator.Verdict, verdicts)
	wrong(len(r.Generator.Doubts) > 0 && len(r.Generator.Doubts) != len(r.Generator.Reasons),
		"generator has %d doubts and %d reasons", len(r.Generator.Doubts), len(r.Generator.Reasons))
	wrong(r.Plan.Target.URL == "", "plan.target.url is missing")
	d := r.Plan.Data
	wrong(d != nil && (!IsSHA256(d.SHA256) || d.Marks != "" && !IsSHA256(d.Marks) || d.Bytes < 0 ||
		d.Requests < len(r.Plan.Requests)),
		"plan.data is not that of so many requests: %+v", d)
	q := r.Requests
	wrong(q.Sent != q.Completed+q.Errors+q.Unfinished || min(q.Completed, q.Errors, q.Unfinished) < 0,
		"requests do not add up: %d sent, %d completed, %d errors, %d unfinished", q.Sent, q.Completed,
		q.Errors, q.Unfinished)
	wrong(q.Due != nil && *q.Due != q.Sent+orZero(q.Waiting),
		"requests.due is %d, and %d were sent and %d not", orZero(q.Due), q.Sent,
		orZero(q.Waiting))
	err := durations.CheckBounds(q.Waited, orZero(q.Waiting))
	wrong(err != nil, "requests.waited: %v", err)
	wrong(min(r.Window.MeasuredS, r.Window.WarmupS) < 0, "a time is below 0")
	all = append(append(append(all, checkRates(r)...), checkCounts(r)...), checkScenario(r)...)
	wrong(r.ErrorAnswers() > q.Errors, "error_latency has %d answers, and requests has %d errors",
		r.ErrorAnswers(), q.Errors)
	for _, x := range []struct {
		name string
		of   *Distribution
	}{{"latency", r.Latency}, {"service", r.Service}, {"error_latency", r.ErrorLatency},
		{"phases.connect", r.Phases.Connect},
		{"phases.first_byte", r.Phases.FirstByte}} {
		if x.of != nil {
			all = append(all, x.of.Check(x.name))
		}
	}
	all = append(all, r.Stream.Check())
	return errors.Join(all...)
}

// ratePerMachine is more requests a second than a machine can send: ten times what a plan can ask
// of a fleet.
const ratePerMachine = 10 * loadplan.MaxRate

// mostRate is more requests a second than r's machines can send.
func (r *Result) mostRate() float64 {
	if r.Fleet == nil {
		return ratePerMachine
	}
	return float64(ratePerMachine * max(len(r.Fleet.Agents), 1))
}

// checkRates finds rates that cannot be.
func checkRates(r *Result) (all []error) {
	most := r.mostRate()
	for _, x := range []struct {
		name  string
		value *float64
	}{{"sent", &r.Rate.Sent}, {"completed", &r.Rate.Completed}, {"offered", r.Rate.Offered},
		{"error_answers", r.Rate.ErrorAnswers}, {"handshakes", r.Rate.Handshakes}} {
		if x.value != nil && (*x.value < 0 || *x.value > most) {
			all = append(all, fmt.Errorf("rate.%s is %.6g a second, not within 0 and %.6g", x.name, *x.value,
				most))
		}
	}
	return all
}

// checkCounts finds counts that cannot be: below 0, or more answers than exchanges that ended.
// An answer with a status is one that completed, or failed for what it was or by its rest.
func checkCounts(r *Result) (all []error) {
	below := func(name string, counts ...int64) {
		if n := slices.Min(counts); n < 0 {
			all = append(all, fmt.Errorf("%s: %d is below 0", name, n))
		}
	}
	c := r.Connections
	below("connections", int64(c.Asked), c.Opened, int64(c.Served), c.Reconnects,
		orZero(c.TLSFull), orZero(c.TLSResumed))
	below("bytes", r.Bytes.Sent, r.Bytes.Received)
	below("requests", r.Requests.Retried, r.Requests.Warmup, r.Requests.WarmupLost,
		r.Requests.WarmupInWindow, r.Requests.Redirects, r.Requests.WarmupRedirects,
		orZero(r.Requests.Waiting), orZero(r.Requests.Late), orZero(r.Requests.SentAfter),
		r.Requests.StepsAfter, r.Requests.FailedAfter)
	var answers int64
	for _, code := range slices.Sorted(maps.Keys(r.Status)) {
		below("status "+code, r.Status[code])
		answers += r.Status[code]
	}
	if ended := r.Requests.Completed + r.Requests.Errors; answers > ended {
		all = append(all, fmt.Errorf("status has %d answers, and %d requests completed or failed",
			answers, ended))
	}
	for _, k := range slices.Concat(r.Retries, r.NotRetried) {
		below("retries", k.Count, k.Least, k.Most-k.Least)
	}
	for i, e := range r.Errors {
		below(fmt.Sprintf("errors[%d].count", i), e.Count)
	}
	for i, p := range r.Series {
		below(fmt.Sprintf("series[%d]", i), p.Sent, p.Completed, p.Errors, p.InFlight, p.Received,
			p.Written, p.Iterations, p.IterationsFailed, p.Early, p.EarlyErrors, p.EarlyIterations)
	}
	for _, route := range r.Routes {
		below("route "+route.Name, route.Completed, route.Errors, route.Stalled, route.Cut)
		if err := route.Over.Check(); err != nil {
			all = append(all, fmt.Errorf("route %s: %w", route.Name, err))
		}
	}
	for _, c := range r.Checks {
		below("check "+c.Name, c.Passed, c.Failed)
	}
	return all
}

// missingKeys are the keys that every value of typ has, its parts included, and that are absent
// from keys or null there. TestSchemaIsThatOfTheTypes checks that the schema requires the same
// keys.
func missingKeys(keys map[string]json.RawMessage, within string, typ reflect.Type) (all []string) {
	for f := range typ.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && key == "" { // its keys are those of typ
			all = append(all, missingKeys(keys, within, f.Type)...)
			continue
		}
		if key == "-" || strings.HasPrefix(options, "omit") {
			continue
		}
		value, is := keys[key]
		if !is || string(value) == "null" {
			all = append(all, within+key)
			continue
		}
		var parts map[string]json.RawMessage
		if f.Type.Kind() == reflect.Struct && json.Unmarshal(value, &parts) == nil {
			all = append(all, missingKeys(parts, within+key+".", f.Type)...)
		}
	}
	return all
}

// IsSHA256 reports whether s is 64 hexadecimal digits in lower case.
func IsSHA256(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 64
}
