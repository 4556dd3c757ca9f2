package onestep

import (
	"fmt"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/redirect"
	"dyno/internal/engine/scenario"
)

// Follow says which redirects a run follows. A request that is followed keeps its row, its values
// and its checks, which are of the last answer.
type Follow struct {
	Most   int               // of one request; 0: none is followed
	Scheme string            // of the server: http or https
	To     []redirect.Origin // other origins that redirects may lead to
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
	n       int               // redirects followed; 0: none yet
	origin  int               // where the last one went: 0 to the server, else to one of Follow.To
	home    []redirect.Origin // what the server may call itself
	host    []proto.Field     // the request's own Host
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
	origins, numbers := w.origins(h)
	path, at, fault := redirect.Lead(h.request.Path, string(location), origins...)
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
	w.goTo(h, numbers[at], one.Authority)
	h.n++
	h.fill.Own = &h.request
	return scenario.Step{Message: proto.Message{Request: x.request, Fill: &h.fill}, Route: x.request,
		KeepGoing: true, Hop: true, Origin: h.origin}, true
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
		w.setHome(x.hop)
	}
	return x.hop
}

// setHome notes what the server may call itself: by the URL, and by the request's own Host.
func (w *worker) setHome(h *hop) {
	h.origin, h.host = 0, nil
	h.home = append(h.home[:0], redirect.OriginOf(w.follow.Scheme, h.request.Authority))
	for _, f := range h.request.Header {
		if strings.EqualFold(f.Name, "host") {
			h.home = append(h.home, redirect.OriginOf(w.follow.Scheme, f.Value))
			h.host = append(h.host, f)
		}
	}
}

// origins are where a redirect may lead, with their numbers: 0 of the server, 1 and more of
// Follow.To. The first one is where the redirect comes from.
func (w *worker) origins(h *hop) (all []redirect.Origin, numbers []int) {
	if h.origin > 0 {
		all, numbers = append(all, w.follow.To[h.origin-1]), append(numbers, h.origin)
	}
	for _, o := range h.home {
		all, numbers = append(all, o), append(numbers, 0)
	}
	for i, o := range w.follow.To {
		all, numbers = append(all, o), append(numbers, i+1)
	}
	return all, numbers
}

// goTo has a request go to an origin. Another one than before gets no secrets, and they do not come
// back.
func (w *worker) goTo(h *hop, origin int, server string) {
	if origin == h.origin {
		return
	}
	redirect.DropServers(&h.request)
	if h.origin = origin; origin > 0 {
		h.request.Authority = w.follow.To[origin-1].Host
		return
	}
	h.request.Authority = server
	h.request.Header = append(h.request.Header, h.host...)
}

// refuseRedirect fails the request: a check of redirects did not pass.
func (w *worker) refuseRedirect(r *scenario.Response, check int, why error) (scenario.Step, bool) {
	r.CheckError(w.redirectChecks+check, why)
	return scenario.Fail(), true
}
