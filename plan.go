package dyno

import (
	"bytes"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
)

// plan is the load as the generator takes it.
func (l Load) plan() (p loadplan.Plan, faults []error) {
	p = loadplan.DefaultPlan()
	p.Guest = !l.OwnProcess
	u, err := requests.Parse(l.URL)
	if err != nil {
		faults = append(faults, FieldError{"URL", err.Error()})
		u.Target = loadplan.Target{Host: "unknown", TLS: true} // with which Check finds all else
	}
	p.Target = u.Target
	if l.HTTP != "" {
		p.HTTP = l.HTTP
	}
	if l.RetryUnsafe {
		p.Resend = loadplan.ResendUnsafe
	}
	p.Follow = l.Follow
	p.TLS.Insecure, p.TLS.CA = l.Insecure, string(l.RootCAs)
	faults = append(faults, l.setSize(&p)...)
	if l.Expect != "" {
		if p.Expect, err = loadplan.ParseStatuses(l.Expect); err != nil {
			faults = append(faults, FieldError{"Expect", err.Error()})
		}
	}
	l.setTimes(&p)
	p.Seed = l.Seed
	if l.Scenario != nil {
		if l.Follow != 0 {
			faults = append(faults, FieldError{"Follow", "a Scenario is given each redirect, and says " +
				"what is sent next; leave one of the two out"})
		}
		faults = append(faults, l.setScenario(&p, u)...)
		return p, faults
	}
	if len(l.Steps) > 0 || l.Users != 0 {
		faults = append(faults, FieldError{"Steps, Users", "are of a Scenario, and there is none"})
	}
	one := proto.Request{Method: l.Method, Authority: u.Authority, Path: u.Path, Body: l.Body,
		Header: fields(l.Header, u.Basic)}
	if one.Method == "" {
		if one.Method = "GET"; l.Body != nil {
			one.Method = "POST"
		}
	}
	p.Requests = []loadplan.Request{{Request: one, Name: one.Method + " " + one.Path, Weight: 1,
		Raw: bytes.Contains(one.Body, []byte("{{"))}}
	if err := onestep.SetScenario(&p, nil); err != nil {
		faults = append(faults, err)
	}
	return p, faults
}

// setSize sets how much load there is.
func (l Load) setSize(p *loadplan.Plan) (faults []error) {
	p.Requested = l.Requests
	switch {
	case l.Connections != 0:
		p.Connections = l.Connections
	case l.Requests > 0:
		p.Connections = int(min(int64(p.Connections), l.Requests))
	}
	p.Threads = l.Threads
	if l.Threads == 0 {
		p.Threads = max(min(runtime.GOMAXPROCS(0)/2, p.Connections), 1)
	}
	p.Users = l.Users
	if l.Threads == 0 && l.Scenario != nil {
		p.FitThreads()
	}
	if math.IsNaN(l.Rate) || math.IsInf(l.Rate, 0) || l.Rate < 0 {
		faults = append(faults, FieldError{"Rate", "is no number of requests a second"})
	} else {
		p.Rate = loadplan.RatePerSecond(min(l.Rate, 10*loadplan.MaxRate))
	}
	if l.Rate > 0 && p.Rate == 0 {
		faults = append(faults, FieldError{"Rate", "is less than one request in 1,000 seconds"})
	}
	switch {
	case l.Poisson && l.Rate == 0:
		faults = append(faults, FieldError{"Poisson", "is how the requests of Rate are due; give Rate"})
	case l.Poisson:
		p.Arrival = loadplan.Poisson
	}
	return faults
}

// setTimes sets how long the load and its parts take.
func (l Load) setTimes(p *loadplan.Plan) {
	if l.For != 0 || l.Requests > 0 {
		p.Duration = loadplan.Seconds(l.For)
	}
	p.Warmup = loadplan.Seconds(l.Warmup)
	for _, t := range []struct {
		to   *loadplan.Seconds
		want time.Duration
	}{{&p.Drain, l.Drain}, {&p.Timeout, l.Timeout}} {
		if t.want != 0 {
			*t.to = loadplan.Seconds(t.want)
		}
	}
}

// fields are a header as it is sent, with the credentials of a URL, if it has any.
func fields(h map[string][]string, basic string) (all []proto.Field) {
	own := func(name string) bool { return strings.EqualFold(name, "Authorization") }
	if basic != "" && !slices.ContainsFunc(slices.Collect(maps.Keys(h)), own) {
		all = append(all, proto.Field{Name: "Authorization", Value: basic})
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			all = append(all, proto.Field{Name: name, Value: value})
		}
	}
	return all
}
