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
	origins []redirect.Origin // what the server may call itself, and then Follow.To
	home    int               // of origins: those of the server
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
	at := h.origins[0]
	if h.origin > 0 {
		at = w.follow.To[h.origin-1]
	}
	path, to, fault := redirect.Path(at, h.request.Path, string(location), h.origins)
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
	w.goTo(h, max(to-h.home+1, 0), one.Authority)
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
		w.setOrigins(x.hop)
	}
	return x.hop
}

// setOrigins notes where redirects may lead: to the server, by its names in the URL and in the
// request's own Host, and to Follow.To.
func (w *worker) setOrigins(h *hop) {
	h.origin, h.host = 0, nil
	h.origins = append(h.origins[:0], redirect.OriginOf(w.follow.Scheme, h.request.Authority))
	for _, f := range h.request.Header {
		if strings.EqualFold(f.Name, "host") {
			h.origins = append(h.origins, redirect.OriginOf(w.follow.Scheme, f.Value))
			h.host = append(h.host, f)
		}
	}
	h.home = len(h.origins)
	h.origins = append(h.origins, w.follow.To...)
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
