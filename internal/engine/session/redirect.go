package session

import (
	"errors"
	"fmt"
	"slices"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/redirect"
	"dyno/internal/engine/scenario"
	"dyno/internal/fact"
	"dyno/internal/say"
)

// A request with the option location follows redirects of the run's origin, as hurl does: each is a
// request of its own, and captures and asserts are of the last response.

// DefaultRedirects is how many redirects one request follows, unless max-redirs says otherwise.
const DefaultRedirects = 50

// A redirection is what an entry that follows redirects has. Its requests are in the Requests, each
// without and with a header Cookie.
type redirection struct {
	most  int64
	at    hurl.Pos
	same  [2]int // the entry's request to another path
	get   [2]int // a GET without its body
	route int
	value int // the path
}

// addRedirects adds the requests that follow a redirect of the draft, which has a header Cookie if
// variant is 1. The fields from bare to full are of its body only.
func (d *draft) addRedirects(bare, full, variant int) {
	r, to := d.request, d.entry.redirect
	r.Path = "/"
	r.Header = slices.Clone(r.Header)
	r.Holes = slices.DeleteFunc(slices.Clone(r.Holes), func(h proto.Hole) bool {
		return h.In == proto.InPath
	})
	r.Holes = append(r.Holes, proto.Hole{In: proto.InPath, At: 1, Value: to.value})
	written := d.written
	written.Path, written.Header = "/{{redirect}}", slices.Clone(written.Header)
	to.same[variant] = d.addTo(to.route, r, written)
	r.Method, r.Body, written.Body = "GET", nil, nil
	r.Header = slices.Delete(slices.Clone(r.Header), bare, full)
	written.Header = slices.Delete(slices.Clone(written.Header), bare, full)
	r.Holes = slices.DeleteFunc(slices.Clone(r.Holes), func(h proto.Hole) bool {
		return h.In == proto.InBody || h.In == proto.InHeader && h.Field >= bare && h.Field < full
	})
	for i := range r.Holes {
		if h := &r.Holes[i]; h.In == proto.InHeader && h.Field >= full {
			h.Field -= full - bare
		}
	}
	to.get[variant] = d.addTo(to.route, r, written)
}

// Follows reports whether any request follows redirects.
func (m *Maker) Follows() bool {
	for _, p := range m.programs {
		if slices.ContainsFunc(p.entries, func(e entry) bool { return e.redirect != nil }) {
			return true
		}
	}
	return false
}

// A hop is a redirect that was followed.
type hop struct{ location string }

// isRedirect reports whether a response is a redirect that the entry follows.
func (e *entry) isRedirect(r *scenario.Response) bool {
	return e.redirect != nil && r.Failed == "" && r.Status >= 300 && r.Status < 400 &&
		r.Field("location") != nil
}

// redirect is the step after a redirect. If it cannot be followed the entry has failed, and is sent
// again as one that fails otherwise is.
func (w *worker) redirect(u *scenario.User, x *user, e *entry, r *scenario.Response) scenario.Step {
	var o Observation
	if w.Observe != nil {
		o = w.observation(x, e, r)
	}
	step := w.follow(u, x, e, r)
	if w.Observe != nil {
		o.Refused, o.Failed = step.Refused, step.Refused != nil
		w.Observe(o)
	}
	if step.Refused == nil || x.tries >= e.retry {
		return step
	}
	x.tries++
	return w.send(u, x)
}

// follow is the step that follows a redirect.
func (w *worker) follow(u *scenario.User, x *user, e *entry, r *scenario.Response) scenario.Step {
	to := e.redirect
	refuse := func(why error) scenario.Step {
		return scenario.Refuse(fmt.Errorf("%s:%d:%d: %w", x.program.name, to.at.Line, to.at.Column, why))
	}
	if int64(len(x.hops)) == to.most {
		return refuse(say.Wrong(fact.InScenario{Of: fact.RedirectsMany, Most: to.most}))
	}
	own := w.Origin.plain()
	path, _, fault := redirect.Path(own, string(x.path), string(r.Field("location")),
		[]redirect.Origin{own})
	if fault != nil {
		return refuse(errors.New(fault.Problem))
	}
	x.hops = append(x.hops, hop{w.Origin.Scheme + "://" + w.Origin.Authority + path})
	if r.Status <= 303 && r.Status != 300 {
		x.redirected = &to.get
	} else if x.redirected == nil {
		x.redirected = &to.same
	}
	from := len(x.made)
	x.made = append(x.made, path[1:]...)
	x.values[to.value] = x.made[from:]
	x.path = append(x.path[:0], path...)
	variant, err := w.fillCookies(x, e, u.Now)
	if err != nil {
		return scenario.Refuse(err)
	}
	step := w.step(e)
	step.Route = to.route
	step.KeepGoing = step.KeepGoing || x.tries < e.retry
	step.Message.Request = x.redirected[variant]
	x.fill = proto.Fill{Values: x.values}
	if x.redirected == &to.same && len(e.body) > 0 {
		x.fill.Body = x.body
	}
	step.Message.Fill = &x.fill
	return step
}

// redirects is the value of the query of that name: the redirects that were followed.
func (x *user) redirects() value {
	all := make([]value, len(x.hops))
	for i, h := range x.hops {
		all[i] = value{kind: response, text: []byte(h.location)}
	}
	return ofList(all)
}
