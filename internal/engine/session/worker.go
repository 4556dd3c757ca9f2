package session

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/template"
	"dyno/internal/fact"
	"dyno/internal/say"
)

// A worker is the scenario of one worker of a run.
type worker struct {
	*Maker
	numbering scenario.Numbering
	facts     template.Facts
	judges    *scenario.User // whose response
	scratch   scratch
	placed    []byte // a value before it is encoded
	whole     []byte // parts before they are encoded together
}

// A user is what a virtual user has of its own. Its memory is used again in the next iteration.
type user struct {
	program  *program
	entry    int   // of the program
	repeated int64 // how often the entry was sent before
	tries    int64 // how often it has failed
	hops     []hop // redirects that were followed since it was sent
	// redirected are the requests of redirects; nil before the first.
	redirected *[2]int
	row        int // of the entry that is sent
	drawn      int // row of the iteration
	suspended  []suspended
	renewed    bool // another entry ran for this one: see suspend
	resumed    bool // it did just now
	memories   []memory
	*memory    // of the program

	fill   proto.Fill
	values [][]byte
	made   []byte // values point into it
	body   []byte
	path   []byte
}

// Make makes the scenario of a worker.
func (m *Maker) Make(s scenario.Share) (scenario.Scenario, error) {
	if m.Data != nil {
		if err := m.Order.Check(s, m.Data.Rows()); err != nil {
			return nil, fmt.Errorf("rows %v: %w", m.Order, err)
		}
	}
	w := &worker{Maker: m, numbering: scenario.NewNumbering(s)}
	w.scratch.most = m.MaxBody
	return w, nil
}

// Example is the first request of the first user, as it is sent if its iteration was due at that
// instant, in ns since the Unix epoch.
func (m *Maker) Example(due int64) (proto.Request, error) {
	s, err := m.Make(scenario.Share{Users: 1, Iterations: 1})
	if err != nil {
		return proto.Request{}, err
	}
	step := s.Start(&scenario.User{Due: due, Rand: rand.New(rand.NewPCG(1, 1))})
	if step.Refused != nil {
		return proto.Request{}, fmt.Errorf("the first request: %w", step.Refused)
	}
	r := &m.Requests[step.Message.Request]
	return r.Filled(step.Message.Fill), nil
}

var errUsedUp = errors.New("all rows of the data are used up")

// Start begins a run of a file.
func (w *worker) Start(u *scenario.User) scenario.Step {
	x, is := u.State.(*user)
	if !is {
		x = &user{values: make([][]byte, w.values), memories: make([]memory, w.memories)}
		u.State = x
	}
	place, number := w.numbering.Next(u.Warmup)
	if w.Data != nil {
		if x.drawn, is = w.Order.Row(u, place, w.Data.Rows()); !is {
			return scenario.Refuse(errUsedUp)
		}
	}
	x.begin(&w.programs[w.order[place%int64(len(w.order))]])
	w.takeFacts(u, number)
	for i, from := range x.program.slots {
		if x.row = x.drawn; from.stays {
			x.row = x.memory.row
		}
		if !x.held[i] {
			x.slots[i].keep(w.valueOf(x, from))
		}
	}
	x.skipHeld(u.Now)
	return w.send(u, x)
}

// takeFacts notes what functions need to know.
func (w *worker) takeFacts(u *scenario.User, number int64) {
	w.facts.Rand, w.facts.Seq, w.facts.Due = u.Rand, number, u.Due
	w.scratch.reset()
}

// send is the step that sends the user's entry.
func (w *worker) send(u *scenario.User, x *user) scenario.Step {
	e := &x.program.entries[x.entry]
	x.row = x.rowOf(e)
	resumed := x.resumed
	x.resumed = false
	for i := range e.sets {
		if x.tries > 0 && !resumed {
			break // a retry sends what was sent
		}
		if err := w.assign(x, &e.sets[i]); err != nil {
			return scenario.Refuse(err)
		}
	}
	x.made, x.hops, x.redirected = x.made[:0], x.hops[:0], nil
	for i := range e.fillers {
		if err := w.fillHole(x, e, i); err != nil {
			return scenario.Refuse(err)
		}
	}
	r := &w.Requests[e.request[0]]
	x.path = proto.AppendFilled(x.path[:0], r.Path, e.path, x.values)
	step := w.step(e)
	switch step.Think = e.think[0]; {
	case resumed || x.tries == 0 && len(x.suspended) > 0:
		step.Think = 0 // nobody thinks between an answer and what it needs
	case x.tries > 0:
		step.Think = e.interval
	case e.think[1] > e.think[0]:
		step.Think += time.Duration(u.Rand.Int64N(int64(e.think[1]-e.think[0]) + 1))
	}
	variant, err := w.fillCookies(x, e, u.Now+int64(step.Think))
	if err != nil {
		return scenario.Refuse(err)
	}
	step.KeepGoing = step.KeepGoing || x.tries < e.retry
	step.Message.Request = e.request[variant]
	x.fill = proto.Fill{Values: x.values}
	if len(e.fillers) > 0 || variant > 0 {
		if len(e.body) > 0 {
			x.body = proto.AppendFilled(x.body[:0], r.Body, e.body, x.values)
			x.fill.Body = x.body
		}
		step.Message.Fill = &x.fill
	}
	return step
}

// step is a step of an entry, without its message.
func (w *worker) step(e *entry) scenario.Step {
	return scenario.Step{Route: e.route, AnyStatus: e.anyStatus || w.Observe != nil,
		Plain:     w.stream != "" && !e.stream,
		KeepGoing: w.Observe != nil || e.watched}
}

// assign does what the option variable says.
func (w *worker) assign(x *user, a *assignment) error {
	if a.from != nil {
		x.slots[a.slot].keep(w.valueOf(x, *a.from))
		return nil
	}
	b, err := w.appendParts(w.whole[:0], x, a.parts)
	if w.whole = b; err != nil {
		return err
	}
	x.slots[a.slot].keep(ofText(b))
	return nil
}

// appendParts appends parts of a template.
func (w *worker) appendParts(to []byte, x *user, all []part) ([]byte, error) {
	var ok bool
	for i := range all {
		if to, ok = w.appendPart(to, x, &all[i]); !ok {
			return to, w.cannotStand(x, &all[i])
		}
	}
	return to, nil
}

// cannotStand is the error of a value that cannot stand where its expression does.
func (w *worker) cannotStand(x *user, p *part) error {
	of := fact.ValueNoText
	if p.in == hurl.InJSON {
		of = fact.ValueNotBare
	}
	return fmt.Errorf("%s:%d:%d: %w", x.program.name, p.at.Line, p.at.Column,
		say.Wrong(fact.InScenario{Of: of}))
}

// fillHole makes value i of an entry.
func (w *worker) fillHole(x *user, e *entry, i int) (err error) {
	f := &e.fillers[i]
	from := len(x.made)
	if f.as == plain {
		x.made, err = w.appendParts(x.made, x, f.parts)
	} else {
		w.whole, err = w.appendParts(w.whole[:0], x, f.parts)
		x.made = appendEncoded(x.made, w.whole, f.as)
	}
	x.values[i] = x.made[from:]
	if problem := proto.ValueProblem(f.in, x.values[i]); err == nil && problem != "" {
		return fmt.Errorf("%s:%d:%d: the value %s", x.program.name, f.at.Line, f.at.Column, problem)
	}
	return err
}

// fillCookies makes the value of the header Cookie of a request that is due at an instant. variant
// is 1 if there is one to send.
func (w *worker) fillCookies(x *user, e *entry, due int64) (variant int, err error) {
	from := len(x.made)
	x.made = x.jar.Append(x.made, x.path, &w.origin, due/1e9)
	if len(e.cookies) > 0 {
		if len(x.made) > from {
			x.made = append(x.made, "; "...)
		}
		x.made, err = w.appendParts(x.made, x, e.cookies)
	}
	x.values[e.jarValue] = x.made[from:]
	switch problem := proto.ValueProblem(proto.InHeader, x.values[e.jarValue]); {
	case err != nil || len(x.made) == from:
		return 0, err
	case problem != "":
		return 0, fmt.Errorf("%s: the value of a cookie %s", x.program.name, problem)
	}
	return 1, nil
}

// Next judges the response to an entry, and sends the next.
func (w *worker) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	x := u.State.(*user)
	e := &x.program.entries[x.entry]
	w.takeFacts(u, w.facts.Seq)
	w.judges = u
	w.keepCookies(u, x, r)
	if e.isRedirect(r) {
		return w.redirect(u, x, e, r)
	}
	var passed bool
	if w.Observe == nil {
		passed = r.Failed == "" && w.judge(x, e, r)
	} else {
		passed = w.observe(x, e, r)
	}
	switch {
	case r.Unjudged:
		return scenario.Fail()
	case !passed && x.suspend(e, r):
		return w.send(u, x)
	case !passed && x.triesAgain(e, r):
		x.tries++
		r.DropChecks()
		return w.send(u, x)
	case !passed:
		return scenario.Fail()
	}
	x.tries, x.renewed = 0, false
	if x.repeated++; x.repeated >= e.repeat {
		x.repeated, r.Login = 0, x.login(e)
		x.finish(e, u.Now)
	}
	if x.entry == len(x.program.entries) {
		return scenario.End()
	}
	return w.send(u, x)
}

// triesAgain reports whether a request that has failed is sent again: not because of a status of
// which the file says nothing.
func (x *user) triesAgain(e *entry, r *scenario.Response) bool {
	return x.tries < e.retry && (e.anyStatus || r.Status == 0)
}

// keepCookies puts the cookies of a response into the user's jar.
func (w *worker) keepCookies(u *scenario.User, x *user, r *scenario.Response) {
	x.jar.Begin(x.cookiesOf())
	for i := range r.Fields() {
		name, v, trailer := r.FieldAt(i)
		if !trailer && string(name) == "set-cookie" {
			x.jar.Set(v, &w.origin, x.path, u.Now/1e9)
		}
	}
}

// judge captures and asserts what an entry says. As in hurl, nothing else is judged if the status
// or a capture fails, and else all is.
func (w *worker) judge(x *user, e *entry, r *scenario.Response) (passed bool) {
	w.scratch.response = r
	passed = true
	for i := range e.first {
		passed = w.pass(x, r, &e.first[i]) && passed
	}
	for i := range e.captures {
		if passed = passed && w.goesOn(r); passed {
			passed = w.capture(x, r, &e.captures[i])
		}
	}
	if !passed {
		return false
	}
	for i := range e.asserts {
		if !w.goesOn(r) {
			return false
		}
		passed = w.pass(x, r, &e.asserts[i]) && passed
	}
	return passed
}

// goesOn reports whether the run is not over yet. Else the response is not judged any further.
func (w *worker) goesOn(r *scenario.Response) bool {
	r.Unjudged = w.judges.Spend(w.scratch.steps)
	w.scratch.steps = 0
	return !r.Unjudged
}

// pass notes whether an assert passes.
func (w *worker) pass(x *user, r *scenario.Response, a *assert) bool {
	w.scratch.exceeded = false
	passes := w.passes(x, r, a)
	if !passes {
		w.noteLimits(r, a)
	}
	return r.Check(a.check, passes)
}

// capture gives a slot the value of a query. It passes if there is one.
func (w *worker) capture(x *user, r *scenario.Response, a *assert) bool {
	w.scratch.exceeded = false
	v, err := w.evaluate(x, a)
	if ok := err == nil && v.kind != none; ok {
		x.slots[a.slot].keep(v)
		return r.Check(a.check, true)
	}
	w.noteLimits(r, a)
	return r.Check(a.check, false)
}

// noteLimits fails the checks that say why an assert could not tell.
func (w *worker) noteLimits(r *scenario.Response, a *assert) {
	if a.needsBody() && (r.Truncated() || w.scratch.long) {
		r.Check(len(w.Checks)-1, false)
	}
	if w.scratch.exceeded {
		r.Check(w.limits, false)
	}
}

// needsBody reports whether an assert looks at the body.
func (a *assert) needsBody() bool { return a.body != nil || a.query.readsBody() }
