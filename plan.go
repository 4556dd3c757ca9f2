package dyno

import (
	"bytes"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
	"dyno/internal/setting"
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
	faults = append(faults, l.setPlain(&p)...)
	p.TLS.CA = string(l.RootCAs)
	faults = append(faults, l.setSize(&p)...)
	p.Auth, p.User = l.Auth, l.User
	faults = append(faults, l.checkLogins()...)
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
		Header: sortedFields(l.Header, u.Basic)}
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

// setPlain sets what the table of settings reads from a field of the same meaning. What is zero is
// not set.
func (l Load) setPlain(p *loadplan.Plan) (faults []error) {
	all := reflect.ValueOf(l)
	for i := range setting.Table {
		s := &setting.Table[i]
		if s.Take == nil || s.Library == "" {
			continue
		}
		v := all.FieldByName(s.Library)
		if v.IsZero() {
			continue
		}
		if err := s.Take(p, v.Interface()); err != nil {
			faults = append(faults, FieldError{s.Library, err.Error()})
		}
	}
	return faults
}

// setSize sets how much load there is, where that depends on several fields.
func (l Load) setSize(p *loadplan.Plan) (faults []error) {
	if l.Connections == 0 && l.Requests > 0 {
		p.Connections = int(min(int64(p.Connections), l.Requests))
	}
	if l.For == 0 && l.Requests > 0 {
		p.Duration = 0
	}
	if l.Threads == 0 {
		p.Threads = max(min(runtime.GOMAXPROCS(0)/2, p.Connections), 1)
	}
	if l.Threads == 0 && l.Scenario != nil {
		p.FitThreads()
	}
	if l.Poisson && l.Rate == 0 {
		p.Arrival = ""
		faults = append(faults, FieldError{"Poisson", "is how the requests of Rate are due; give Rate"})
	}
	return faults
}

// sortedFields are a header as it is sent, with the credentials of a URL, if it has any.
func sortedFields(h map[string][]string, basic string) (all []proto.Field) {
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
