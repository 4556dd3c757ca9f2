package onestep

import (
	"fmt"
	"strings"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/redirect"
	"dyno/internal/engine/scenario"
)

// Follow says which redirects a run follows. A request that is followed keeps its row, its values
// and its checks, which are of the last answer.
type Follow struct {
	Most    int           // of one request; 0: none is followed
	Scheme  string        // of the server: http or https
	Timeout time.Duration // of a request with its redirects, unless it has its own
}

// locationField is the field that says where a redirect leads.
const locationField = "location"

// checks are the names of the checks that redirects have, in the order of the constants below.
func (f *Follow) checks() []string {
	return []string{fmt.Sprint(scenario.RedirectsWithin, f.Most), scenario.RedirectsStay,
		scenario.RedirectsLead}
}

// The checks that redirects have.
const (
	within = iota
	stays
	leads
)

// A hop is what a user sends after redirects of its request.
type hop struct {
	n       int           // redirects followed; 0: none yet
	took    time.Duration // all requests before
	request proto.Request
	fill    proto.Fill
}

// followRedirect is the step after a response that is a redirect, or after one that is none and has
// failed. is is false of all others: their checks decide.
func (w *worker) followRedirect(x *message, r *scenario.Response) (step scenario.Step, is bool) {
	location := r.Field(locationField)
	switch {
	case !redirect.Is(r.Status), location == nil && r.Failed != "":
		return scenario.Fail(), r.Failed != ""
	case location == nil:
		return w.refuseRedirect(r, leads, fmt.Errorf("the redirect (%d) has no Location", r.Status))
	}
	one := &w.requests[x.request]
	h := w.hopOf(x, one)
	if h.n == w.follow.Most {
		return w.refuseRedirect(r, within, fmt.Errorf("too many redirects: %d", h.n))
	}
	path, fault := redirect.Path(h.request.Path, string(location), w.origins(&h.request)...)
	switch {
	case fault != nil && fault.Away:
		return w.refuseRedirect(r, stays, fault)
	case fault != nil:
		return w.refuseRedirect(r, leads, fault)
	}
	method, keepsBody := redirect.Method(r.Status, h.request.Method)
	if h.request.Path, h.request.Method = path, method; !keepsBody {
		redirect.DropBody(&h.request)
	}
	h.n++
	h.took += r.Took
	timeout := w.follow.Timeout
	if one.Timeout > 0 {
		timeout = one.Timeout
	}
	h.fill.Own = &h.request
	return scenario.Step{Message: proto.Message{Request: x.request, Fill: &h.fill}, Route: x.request,
		Timeout: max(timeout-h.took, time.Millisecond), KeepGoing: true, Hop: true}, true
}

// hopOf is what a user last sent.
func (w *worker) hopOf(x *message, one *compiled) *hop {
	if x.hop == nil {
		x.hop = &hop{}
	}
	if x.hop.n == 0 {
		var fill *proto.Fill
		if len(one.Sources) > 0 {
			fill = &x.fill
		}
		x.hop.request = one.Filled(fill)
	}
	return x.hop
}

// origins are those that a server may call itself: by the URL, and by the request's own Host.
func (w *worker) origins(r *proto.Request) []redirect.Origin {
	all := []redirect.Origin{redirect.OriginOf(w.follow.Scheme, r.Authority)}
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, "host") {
			all = append(all, redirect.OriginOf(w.follow.Scheme, f.Value))
		}
	}
	return all
}

// refuseRedirect fails the request: a check of redirects did not pass.
func (w *worker) refuseRedirect(r *scenario.Response, check int, why error) (scenario.Step, bool) {
	r.CheckError(w.redirectChecks+check, why)
	return scenario.Fail(), true
}
