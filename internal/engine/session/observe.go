package session

import (
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// An Observation is what Config.Observe is told of a step. Its Response is only lent.
type Observation struct {
	Step     string
	Request  proto.Request // as it was sent, or, with Auth, before it was signed
	Response *scenario.Response
	Failed   bool
	Refused  error     // why a redirect is not followed; nil: it is, or is none
	Again    string    // the step that runs again because of it, before this one does; "": none
	Retry    int64     // how often its request was sent before
	Retries  int64     // how often it may be sent again
	Outcomes []Outcome // of the checks
	Captures []Captured
}

// A Captured is a value that a response gave a variable.
type Captured struct {
	Name, Value string
	Redact      bool // the file says that nobody is to see it
}

// An Outcome is that of one check.
type Outcome struct {
	Name   string
	OK     bool
	Actual string // the value, or why there is none
	Expr   string // of a capture: its query and filters, as the file has them
	Body   bool   // it looks at the body
	Redact bool   // of a capture: the file says that nobody is to see its value
}

// leastError is the lowest status that is an error where the file says nothing of the response.
const leastError = 400

// observe judges a response, and tells of it.
func (w *worker) observe(x *user, e *entry, r *scenario.Response) (passed bool) {
	passed = r.Failed == "" && (e.anyStatus || r.Status < leastError) && w.judge(x, e, r)
	o := w.observation(x, e, r)
	if o.Failed = !passed; o.Failed {
		if i := x.renewer(e, r); i >= 0 {
			o.Again = w.Steps[x.program.entries[i].route]
		}
	}
	for _, c := range r.Checks() {
		one := Outcome{Name: w.Checks[c.Check], OK: c.OK}
		for _, all := range [][]assert{e.first, e.captures, e.asserts} {
			for i := range all {
				if all[i].check == c.Check {
					one.Actual, one.Expr = w.actual(x, &all[i]), all[i].expr
					one.Body, one.Redact = all[i].needsBody(), all[i].redact
				}
			}
		}
		o.Outcomes = append(o.Outcomes, one)
	}
	for _, a := range e.captures {
		b, _ := x.slots[a.slot].render(nil) // what is no text is shown as such
		o.Captures = append(o.Captures, Captured{a.captures, string(b), a.redact})
	}
	w.Observe(o)
	return passed
}

// observation is what there is to tell of a response, which is not judged.
func (w *worker) observation(x *user, e *entry, r *scenario.Response) Observation {
	variant, route, requests := 0, e.route, &e.request
	if len(x.values[e.jarValue]) > 0 {
		variant = 1
	}
	if x.redirected != nil {
		route, requests = e.redirect.route, x.redirected
	}
	return Observation{Step: w.Steps[route], Response: r, Retry: x.tries, Retries: e.retry,
		Request: w.Requests[requests[variant]].Filled(&x.fill)}
}

// actual shows the value of an assert.
func (w *worker) actual(x *user, a *assert) string {
	var v value
	var err error
	switch {
	case a.header != "":
		v, err = w.headerValue(x, &query{arg: arg{text: []byte(a.header)}})
	case a.body != nil:
		v, err = w.bodyValue(x, &query{name: "body"})
	default:
		v, err = w.evaluate(x, a)
	}
	if err != nil {
		return err.Error()
	}
	return v.String()
}
