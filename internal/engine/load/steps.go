package load

import (
	"time"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/streams"
)

// This file leads users through their iterations (see users). The functions stand in the order in
// which a step meets them: beginDue, beginIteration, takeStep, wakeThinking, nextDue, stepMessage,
// finishStep or failStep, and takeStep again (or followRedirect), until endIteration.
//
// What is due by the schedule, or because the last has ended, is an iteration. Its first step is
// due with it, and each further one when the user has thought after the response before it. Each
// step is counted if it is due in the window, and each iteration likewise.

// beginMost is how many iterations are begun at most before the worker looks at the clock again: a
// scenario may end each before its first step.
const beginMost = 1024

// beginDue reports whether a request is due. With a scenario, users begin iterations that are due
// until one of them has a step to send.
func (w *worker) beginDue() bool {
	if w.users == nil {
		return w.IsDue(w.now, &w.Window)
	}
	if w.at != nil {
		return len(w.at.waiting) > 0 && w.now >= w.HeldUntil && w.now < w.Limit
	}
	for n := 0; n < beginMost && w.Retries.Len == 0 && w.users.free.Len > 0; n++ {
		if !w.IsDue(w.now, &w.Window) {
			return false
		}
		w.beginIteration()
	}
	return w.Retries.Len > 0 && w.IsDue(w.now, &w.Window)
}

// beginIteration begins the iteration that is due, with the user who has been free the longest.
func (w *worker) beginIteration() {
	n := w.users.free.First()
	w.users.dropFree()
	u := &w.users.all[n]
	u.freed = u.freedBy(w.now, w.Start)
	a := w.NextRequest(u.freed, &w.Window)
	u.due, u.counted, u.Warmup = a.Due, a.Counted, !a.Counted
	u.Due, u.Now = ring.TimeAt(u.due).UnixNano(), ring.TimeAt(w.now).UnixNano()
	u.sent, u.active = 0, true
	w.Iterations++
	if u.counted {
		w.totals.Scenario.CountStart(w.now >= w.Window.End)
	} else {
		w.totals.Scenario.Warmup++
	}
	measured, began := w.beginCall()
	s := w.users.scenario.Start(&u.User)
	w.endCall(measured, began)
	w.takeStep(n, &s, u.due)
}

// takeStep has a user do a step: it thinks from an instant on, or waits for a connection, or its
// iteration was over at that instant.
func (w *worker) takeStep(n uint32, s *scenario.Step, at int64) {
	u := &w.users.all[n]
	if s.End {
		if s.Refused != nil && w.IsMeasured(at) {
			w.errors.CountRefusal(s.Refused)
		}
		w.endIteration(n, at, s.Failed)
		if s.Stop || s.Fault != nil {
			w.stopIterations(s.Fault)
		}
		return
	}
	u.step = *s
	if due := at + int64(max(s.Think, 0)); due > w.now {
		w.users.thinking.Push(due, n)
	} else {
		w.Retries.PushBack(w.arrivalOf(n, due))
	}
}

// wakeThinking ends the thinking of users whose steps have become due: these wait for a connection.
func (w *worker) wakeThinking() {
	for t, ok := w.users.thinking.PopExpired(w.now); ok; t, ok = w.users.thinking.PopExpired(w.now) {
		w.Retries.PushBack(w.arrivalOf(t.Of, t.At))
	}
}

// arrivalOf is the step of a user that is due at an instant.
func (w *worker) arrivalOf(n uint32, due int64) flow.Arrival {
	return flow.Arrival{Due: due, Request: n, Counted: w.IsMeasured(due)}
}

// stopIterations has the worker begin no more iterations, as after the last of a number. A fault
// interrupts the run.
func (w *worker) stopIterations(fault error) {
	w.Over, w.Left, w.users.stopped = true, 0, true
	if fault != nil && w.users.fault == nil {
		w.users.fault = fault
		w.gate.Stop.CompareAndSwap(0, w.now)
	}
}

// nextDue takes what is due and has waited longest, for a connection that has room.
func (w *worker) nextDue(c *conn) flow.Arrival {
	if w.users == nil {
		return w.NextRequest(c.slotFreeSince(w.now), &w.Window)
	}
	if w.at != nil {
		w.CountAgainstCeiling()
		return w.takeWaiting()
	}
	a := w.Retries.First()
	w.Retries.DropHead()
	if w.users.all[a.Request].sent > 0 { // the schedule was asked for the first step
		w.CountAgainstCeiling()
	}
	return a
}

// stepMessage is what a user sends as exchange tag.
func (w *worker) stepMessage(c *conn, tag uint32, a flow.Arrival) proto.Message {
	c.responses.Begin(tag)
	u := &w.users.all[a.Request]
	if a.Past == 0 {
		u.sent++
	} else if a.Past&flow.IsHop != 0 { // it has what is left of the timeout of its request
		left := time.Duration(u.first + u.timeout - w.now)
		u.step.Timeout = max(left, time.Millisecond)
	}
	return u.step.Message
}

// countStepLag is countLag of a step. It could not be sent before its user was free, nor while the
// message before it was lent. Of an iteration only the beginning follows the law of arrivals.
func (w *worker) countStepLag(a flow.Arrival, possible int64) {
	u := &w.users.all[a.Request]
	lag := w.countLag(w.now, a.Due, max(possible, u.freed, u.returned))
	if u.sent == 1 && u.step.Think <= 0 {
		w.pacing.RecordSpan(a.Due, a.Due+lag)
	}
}

// finishStep counts a step that was answered completely, and continues its user. Once the run is
// over the answer is not judged: the step has not ended, and neither has its iteration.
func (w *worker) finishStep(c *conn, tag uint32, body int64) {
	x, r := &c.exchanges[tag], &c.responses.Of[tag]
	x.eventful = c.stream.HasEvents(tag)
	if !w.mayJudge() {
		w.countUnanswered(x, true)
		return
	}
	r.Status, r.BodyBytes = x.status, body
	if c.stream != nil {
		_, r.Broken = w.judgeStream(c, tag, true)
	}
	r.Good = w.limits != nil && w.isGood(c, tag)
	r.Protocol, r.Took = c.protocol, time.Duration(w.now-x.sent)
	if c.borrowsMessage(tag) {
		w.lendStep(c, tag, r)
		return
	}
	w.settleStep(x, r, w.now, w.placeOf(c, tag))
}

// mayJudge reports whether the run goes on. To judge an answer may take a second, and a turn may
// have one of each connection and stream. So from the second answer of a completion on this looks
// at the clock.
func (w *worker) mayJudge() bool {
	now := w.now
	if w.users.judged == now {
		now = w.ring.Now()
	}
	w.users.judged = w.now
	return !w.IsOver(now, w.gate.Stop.Load())
}

// settleStep gives the scenario a response that was complete at an instant, counts the step and
// continues the user.
func (w *worker) settleStep(x *exchange, r *scenario.Response, at int64, p place) {
	step := &w.users.all[x.Request].step
	w.samples.KeepMessage(step.Message)
	expected := step.AnyStatus || w.isExpected(step.Message.Request, x.status)
	switch {
	case !expected:
		r.Failed = string(loadresult.Expect)
	case r.Broken != nil:
		r.Failed = string(loadresult.Stream)
	}
	next := scenario.Fail()
	if r.Failed == "" || step.KeepGoing {
		if next = w.callNext(x.Request, r); r.Unjudged {
			w.countUnanswered(x, true)
			return
		}
	}
	check := r.FailedCheck()
	if check >= 0 && !step.KeepGoing {
		next = scenario.Fail()
	}
	if next.Hop {
		w.showHop(x, at, p, r.BodyBytes)
		w.followRedirect(x, &next)
		return
	}
	if w.samples.Show > 0 && x.Counted {
		w.showRequest(x, w.samples.Judged.Message, at, p, r.BodyBytes, "")
	}
	if w.restoreSent(x) {
		w.users.silent.Answer(x.Request, &w.Window, w.plan.Depth(), w.totals)
	}
	w.noteAnswer(x, r.BodyBytes, at)
	right := r.Failed == "" && check < 0
	if right && r.Good {
		w.countGood(x.Counted, step.Route, at)
	}
	w.countAnswer(x, step.Route, at, &w.Window, right, w.IsClosed())
	if x.Counted {
		w.totals.Scenario.CountChecks(r, w.counters.Checks)
		if !right {
			k, reason := failure.OfStatus(x.status), r.Reason()
			switch {
			case r.Failed == string(loadresult.Stream):
				k, reason = failure.OfStream(r.Broken), r.Broken
			case check >= 0 && (expected || w.plan.IsOfRedirects(check)):
				k = failure.OfCheck(w.plan.Checks[check])
			}
			w.errors.CountAnswer(k, x.status, *p.addr, reason)
			w.sampleStep(x, r, at, p, k)
		}
	}
	w.takeStep(x.Request, &next, at)
}

// followRedirect sends what follows a redirect as soon as a connection has room. It is the same
// request: due when it was, and counted once, with its last answer.
func (w *worker) followRedirect(x *exchange, hop *scenario.Step) {
	u := &w.users.all[x.Request]
	if x.Past&flow.IsHop == 0 {
		u.first, u.timeout = x.sent, w.timeoutOf(x.Request)
	}
	if !hop.Challenge {
		w.totals.CountRedirect(x.Counted)
	}
	u.step = *hop
	x.Past = flow.IsHop
	if hop.Origin > 0 && x.Counted {
		w.outposts[hop.Origin-1].hops++
	}
	w.queue(x.Arrival)
}

// restoreSent gives an exchange the beginning and timeout of its request, if it follows a redirect.
func (w *worker) restoreSent(x *exchange) (hop bool) {
	if hop = x.Past&flow.IsHop != 0; hop {
		u := &w.users.all[x.Request]
		x.sent, u.step.Timeout = u.first, time.Duration(u.timeout)
	}
	return hop
}

// numberOf is the number of an exchange's request in the plan or, with a scenario, of its step.
func (w *worker) numberOf(x *exchange) int {
	if w.users == nil {
		return int(x.Request)
	}
	return w.users.all[x.Request].step.Route
}

// callNext asks for the step after a response.
func (w *worker) callNext(n uint32, r *scenario.Response) scenario.Step {
	measured, began := w.beginCall()
	u := &w.users.all[n].User
	u.Now = ring.TimeAt(w.now).UnixNano()
	s := w.users.scenario.Next(u, r)
	w.endCall(measured, began)
	return s
}

// beginCall is called before a call of the scenario: some of them are measured, from an instant on.
func (w *worker) beginCall() (measured bool, began int64) {
	if w.IsMeasured(w.now) && w.users.clock.Draw() {
		return true, w.ring.Now()
	}
	return false, 0
}

// endCall is called after the call, with what beginCall returned.
func (w *worker) endCall(measured bool, began int64) {
	if measured {
		w.users.clock.Add(w.ring.Now() - began)
	}
}

// failStep continues the user of a step that has failed and was counted.
func (w *worker) failStep(c *conn, tag uint32, phase loadresult.Phase) {
	x, r := &c.exchanges[tag], &w.users.failed
	r.Reset()
	r.Failed = string(phase)
	if c.borrowsMessage(tag) {
		w.lendStep(c, tag, r)
		return
	}
	w.settleFailure(x, r, w.now)
}

// settleFailure ends the iteration of a step that failed at an instant, unless it keeps going.
func (w *worker) settleFailure(x *exchange, r *scenario.Response, at int64) {
	next := scenario.Fail()
	if w.users.all[x.Request].step.KeepGoing {
		next = w.callNext(x.Request, r)
		if x.Counted {
			w.totals.Scenario.CountChecks(r, w.counters.Checks)
		}
	}
	w.takeStep(x.Request, &next, at)
}

// endIteration counts an iteration that was over at an instant. Its user is free.
func (w *worker) endIteration(n uint32, at int64, failed bool) {
	u := &w.users.all[n]
	if u.counted {
		w.totals.Scenario.CountEnd(at-u.due, at >= w.End, failed)
		w.countIteration(at-u.due, failed)
	} else if !failed && w.IsMeasured(at) && w.plan.CountsIterations() {
		w.countEarlyIteration()
	}
	u.active, u.freed = false, at
	u.Iteration++
	w.Iterations--
	if u.away = u.leaves; !u.away {
		w.users.free.PushBack(n)
	}
}

// countIteration counts in the interval an iteration of the window that took so many ns.
func (w *worker) countIteration(took int64, failed bool) {
	switch {
	case !w.plan.CountsIterations(): // it is a request
	case failed:
		w.counters.IterationsFailed++
	default:
		w.counters.Iterations++
		w.counters.IterationTime.Record(took)
	}
}

// A lentStep is a step that is over while its message is lent to the codec: the server answered
// before it had all of the request. Until the codec is done with it, the scenario is not asked for
// the user's next step, for which it may need the memory.
type lentStep struct {
	place  place
	tag    uint32
	x      exchange
	answer scenario.Response // with the memory that the exchange's response had
	at     int64             // when it was over
}

// borrowsMessage reports whether the codec may still read the message of an exchange that is over.
func (c *conn) borrowsMessage(tag uint32) bool {
	return c.borrower != nil && c.borrower.Borrows(tag)
}

// isLent reports whether the codec may still read the message. Once another exchange has the tag it
// does not: there was no room for that one before all of the message was handed to the ring.
func (s *lentStep) isLent() bool {
	c := s.place.conn
	again := c.exchanges[s.tag].handed != s.x.handed
	return c.Life == s.place.life && !again && c.borrowsMessage(s.tag)
}

// lendStep keeps a step for takeBackLent.
func (w *worker) lendStep(c *conn, tag uint32, r *scenario.Response) {
	s := lentStep{place: w.placeOf(c, tag), tag: tag, x: c.exchanges[tag], answer: *r, at: w.now}
	s.answer.Broken = streams.Keep(r.Broken)
	*r = scenario.Response{}
	s.place.takeWhole()
	w.users.lent = append(w.users.lent, s)
}

// takeBackLent continues the users whose messages no codec reads any more. A turn calls it behind
// all completions and timers: nothing else ends a loan.
func (w *worker) takeBackLent() {
	all := w.users.lent
	w.users.lent = all[:0]
	for i := range all {
		s := all[i]
		if s.isLent() {
			w.users.lent = append(w.users.lent, s)
			continue
		}
		w.users.all[s.x.Request].returned = w.now
		switch {
		case s.answer.Failed != "":
			w.settleFailure(&s.x, &s.answer, s.at)
		case w.mayJudge():
			w.settleStep(&s.x, &s.answer, s.at, s.place)
		default:
			w.countUnanswered(&s.x, true)
		}
	}
}

// finishScenario counts what the run's end left unfinished.
func (w *worker) finishScenario() {
	w.takeBackLent()
	t := w.totals.Scenario
	for i := range w.users.all {
		if u := &w.users.all[i]; u.active && u.counted {
			t.Unfinished++
		}
	}
	t.Users = len(w.users.all)
	t.TookMost = w.users.clock.Estimate()
	if m, is := w.users.scenario.(interface{ Measures() []metric.Named }); is {
		t.Measures = m.Measures()
	}
}
