// Package auth adds to each request who sends it, where that depends on the request and on the
// time: Digest (RFC 7616) and AWS Signature Version 4. Basic is a header and needs none of it.
//
// It is a scenario around that of the plan: what a user sends becomes a request of its own, with
// Authorization. So load, codecs and other scenarios know nothing of it, and a load without pays
// nothing. A request that has an Authorization already is left as it is, and so is one that a
// redirect has led to another origin.
//
//	auth.go         the scenario
//	challenges.go   the challenges of a field
//	digest.go       Digest: answers challenges
//	sender.go       single requests, outside of a load
//	sigv4.go        AWS Signature Version 4
package auth

import (
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// Applied is a plan whose users say who they are as its Auth has it. Its Scenario is there.
func Applied(p loadplan.Plan) loadplan.Plan {
	m := &maker{Maker: p.Scenario, requests: p.ProtoRequests(), plan: p,
		asks: p.HasAuth(loadplan.Digest)}
	if p.Auth != "" || m.asks || slices.ContainsFunc(p.Requests, func(r loadplan.Request) bool {
		return r.Auth != ""
	}) {
		p.Scenario = m
	}
	return p
}

// A signer says who sends a request.
type signer interface {
	// sign adds fields to the request of a user.
	sign(u *user, at time.Time)
}

// A maker is the scenario of a run.
type maker struct {
	scenario.Maker
	requests []proto.Request
	plan     loadplan.Plan
	asks     bool // the server has to be asked what to sign
}

// challengeField has what a server wants to be signed.
const challengeField = "www-authenticate"

// Want is what the scenario within wants, and the challenges.
func (m *maker) Want() proto.Want {
	w := m.Maker.Want()
	if m.asks && !slices.Contains(w.Fields, challengeField) {
		w.Fields = append(slices.Clone(w.Fields), challengeField)
	}
	return w
}

// Make makes the scenario of a worker.
func (m *maker) Make(s scenario.Share) (scenario.Scenario, error) {
	inner, err := m.Maker.Make(s)
	if err != nil {
		return nil, err
	}
	w := &worker{maker: m, inner: inner, signers: signers{plan: &m.plan}, first: s.FirstUser,
		users: make([]user, s.Users)}
	if measures, is := inner.(measuring); is {
		return measuringWorker{w, measures}, nil
	}
	return w, nil
}

// A worker is the scenario of a worker.
type worker struct {
	*maker
	inner   scenario.Scenario
	signers signers
	first   int64
	users   []user
}

// A user is what is kept of one. The request's memory is used again for the next one.
type user struct {
	step      scenario.Step // as the scenario within has it
	request   proto.Request
	fill      proto.Fill
	digest    bool      // the request is signed by Digest, so a challenge to it is answered
	challenge challenge // of Digest
	asked     bool      // the step was sent again because of a challenge
}

// A measuring is a scenario with measures of its own.
type measuring interface{ Measures() []metric.Named }

// A measuringWorker is a worker whose scenario has measures.
type measuringWorker struct {
	*worker
	measuring
}

// Start is the first step of an iteration, signed.
func (w *worker) Start(u *scenario.User) scenario.Step {
	return w.signed(u, w.inner.Start(u))
}

// Next answers a challenge by the same request once more, which counts as one with it. Any other
// response is that of the scenario within.
func (w *worker) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	x := w.of(u)
	if w.asks {
		if r.Status == 401 && !x.asked && x.digest && x.step.Origin == 0 &&
			x.challenge.take(challengesOf(r)) {
			x.asked = true
			step := w.sign(u, x)
			step.Think, step.Hop, step.Challenge = 0, true, true
			return step
		}
		if r.Failed != "" && !x.step.KeepGoing {
			return scenario.Fail()
		}
	}
	next := w.inner.Next(u, r)
	if w.asks && r.FailedCheck() >= 0 && !x.step.KeepGoing {
		return scenario.Fail()
	}
	return w.signed(u, next)
}

// of is what is kept of a user.
func (w *worker) of(u *scenario.User) *user { return &w.users[u.Number-w.first] }

// signed is a step with who sends it.
func (w *worker) signed(u *scenario.User, step scenario.Step) scenario.Step {
	x := w.of(u)
	x.step, x.asked = step, false
	if step.End || step.Origin > 0 {
		return step
	}
	return w.sign(u, x)
}

// sign is the step of a user with who sends it.
func (w *worker) sign(u *scenario.User, x *user) scenario.Step {
	header, m := x.request.Header[:0], x.step.Message
	if w.plan.Auth == "" && (m.Fill == nil || m.Fill.Own == nil) && w.requests[m.Request].Auth == "" {
		x.digest = false
		return x.step
	}
	switch {
	case m.Fill == nil:
		x.request = w.requests[m.Request]
	case m.Fill.Own != nil:
		x.request = *m.Fill.Own
	default:
		x.request = w.requests[m.Request].Filled(m.Fill)
	}
	x.request.Header = append(header, x.request.Header...)
	step, s := x.step, w.signers.of(&x.request)
	if _, x.digest = s.(*digester); s == nil {
		return step
	}
	step.KeepGoing = step.KeepGoing || x.digest // a challenge is an error, unless it is answered
	s.sign(x, time.Unix(0, u.Now))
	x.fill.Own = &x.request
	step.Message.Fill = &x.fill
	return step
}

// add adds a field to the user's request.
func (x *user) add(name, value string) {
	x.request.Header = append(x.request.Header, proto.Field{Name: name, Value: value})
}
