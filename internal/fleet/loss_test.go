package fleet

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/machine"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// onceInSecond calls f when the controller has shown that second.
func onceInSecond(second int, f func()) func(loadresult.Interval) {
	return func(iv loadresult.Interval) {
		if iv.Index == second {
			f()
		}
	}
}

// An agent that vanishes is missed within the lease. Then the run ends, with what all had
// measured; or the others go on with their own shares. What the lost one had reported
// counts, and nothing else of it is known.
func TestLostAgent(t *testing.T) {
	for how, want := range map[string]struct {
		ended    loadresult.Ending
		duration time.Duration
		kept     int64 // requests that b sent, at least
	}{Abort: {loadresult.Lost, time.Hour, 600}, Continue: {loadresult.ByDuration, 14 * time.Second, 7000}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			vanishing, _ := w.startAgent("a", 1)
			w.startAgent("b", 1)
			c := w.newController()
			c.OnLoss, c.TotalThreads = how, false
			r, err := w.tryRun(t.Context(), c, w.newPlan(1000, want.duration, 4), onceInSecond(1, vanishing.Close))
			if err != nil {
				t.Fatal(err)
			}
			if n := 2 * min(machine.Threads(), 2); r.Plan.Threads != n { // else it is of another series
				t.Errorf("the plan has %d threads, want %d as if none was lost", r.Plan.Threads, n)
			}
			a, b := r.Fleet.Agents[0], r.Fleet.Agents[1]
			if r.Ended != string(want.ended) || a.Lost == "" || a.Final || a.LostAfter == nil ||
				*a.LostAfter < 5 || b.Lost != "" || !b.Final || !*b.AddsUp {
				t.Fatalf("%s %+v %+v", r.Ended, a, b)
			}
			if a.Reports < 2 || a.Covered < 2 || a.Covered > *a.LostAfter-4 || a.Requests.Sent == 0 ||
				float64(a.Requests.Sent) > 500*a.Covered+1 || b.Requests.Sent < want.kept ||
				float64(b.Requests.Sent) > 500*b.Covered+1 {
				t.Errorf("%+v %+v", a, b)
			}
			if r.Requests.Sent != a.Requests.Sent+b.Requests.Sent || !r.Fleet.AddsUp ||
				r.Fleet.Covered != a.Covered+b.Covered || r.Generator.Verdict == result.OK {
				t.Errorf("%+v %+v", r.Requests, r.Fleet)
			}
			if c := r.Connections; c.Asked != 2 || c.Opened != 2 || r.Fleet.StartSpread != nil ||
				strings.Contains(strings.Join(r.Generator.Reasons, " "), "could be opened") {
				t.Errorf("of what only b told: %+v %+v", r.Connections, r.Generator)
			}
			if how == Continue && (r.Fleet.Planned != 28 || len(r.Series) < 14) {
				t.Errorf("%+v, %d seconds", r.Fleet, len(r.Series))
			}
			w.end()
			if n := w.servedCount(); n < r.Requests.Completed {
				t.Errorf("the server had %d, fewer than the %d that were completed", n, r.Requests.Completed)
			}
		})
	}
}

// With a rate, those that are left can take over what a lost one should have sent: from an
// instant on each arrival is one of theirs, and none is two agents'.
func TestRebalance(t *testing.T) {
	t.Parallel()
	const seconds = 15
	var w *world
	var c *Controller
	var r *result.Result
	unheard := func(a result.Agent) bool { return a.Name != "a" && a.Lost != "" }
	for try := range 5 {
		w = newWorld(t)
		vanishing, _ := w.startAgent("a", 1)
		w.startAgent("b", 2)
		w.startAgent("c", 1)
		c = w.newController()
		c.OnLoss = Rebalance
		var err error
		r, err = w.tryRun(t.Context(), c, w.newPlan(800, seconds*time.Second, 8), onceInSecond(1, vanishing.Close))
		if err != nil {
			t.Fatal(err)
		}
		// Others have a second to hear of their new shares; a machine may stand still for that.
		i := slices.IndexFunc(r.Fleet.Agents, unheard)
		if i < 0 {
			break
		}
		t.Logf("try %d: %s was lost too: %s", try+1, r.Fleet.Agents[i].Name, r.Fleet.Agents[i].Lost)
	}
	f := r.Fleet
	if len(f.Rebalanced) != 1 || f.Lost() == nil || f.Lost()[0] != "a" || r.Ended != string(loadresult.ByDuration) {
		t.Fatalf("%s %+v", r.Ended, f)
	}
	after := f.Rebalanced[0].After
	b, cc := f.Agents[1].Requests.Sent, f.Agents[2].Requests.Sent
	if want := 600*after + 800*(seconds-after); math.Abs(float64(b+cc)-want) > 2 {
		t.Errorf("from %.3f s on b and c share all: they sent %d, want %.0f", after, b+cc, want)
	}
	if ratio := float64(b) / float64(cc); ratio < 1.99 || ratio > 2.01 {
		t.Errorf("b sent %d and c %d", b, cc)
	}
	covered := f.Agents[0].Covered
	checkOnTime(t, r, func(at float64) float64 { // a's quarter as far as it was heard of
		return 200*min(at, covered) + 600*min(at, after) + 800*max(at-after, 0)
	})
	p := w.newPlan(0, time.Second, 8)
	if _, err := c.Run(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "--on-agent-loss") {
		t.Errorf("a closed loop has no rate to share: %v", err)
	}
}

// An agent that was not heard for a while and comes back is told to stop, and what it then
// says of itself counts, once.
func TestLateAgent(t *testing.T) {
	t.Parallel()
	for try := 1; ; try++ {
		w, r := lateAgentRun(t)
		// A busy machine may be so late with what waits that the run has ended.
		if a := r.Fleet.Agents[0]; a.Lost != "" && !a.Final && try < 5 {
			t.Logf("try %d: %+v", try, a)
			continue
		} else if a.Lost == "" || a.Covered >= 12 || !a.Final || a.AddsUp == nil || !*a.AddsUp ||
			r.Ended != string(loadresult.ByDuration) {
			t.Fatalf("%s %+v", r.Ended, a)
		}
		w.end()
		if n := w.servedCount(); n < r.Requests.Completed || n > r.Requests.Sent || !r.Fleet.AddsUp {
			t.Errorf("the server had %d, %+v", n, r.Requests)
		}
		return
	}
}

// lateAgentRun is a run of two agents. From its third second on nothing of one is heard until it is
// given up.
func lateAgentRun(t *testing.T) (*world, *result.Result) {
	t.Helper()
	w := newWorld(t)
	w.startAgent("a", 1)
	w.startAgent("b", 1)
	c := w.newController()
	c.OnLoss = Continue
	reported, lost := 0, false
	c.Progress = func(line string) { lost = lost || strings.Contains(line, "a was lost") }
	c.alter = func(m *nats.Msg) []*nats.Msg { // nothing of a arrives until it is given up
		agent, what, _ := wire.ParseSubject(m.Subject)
		if agent == "a" && reported == 2 && !lost {
			return nil
		}
		if agent == "a" && what == wire.Reported {
			reported++
		}
		return []*nats.Msg{m}
	}
	return w, w.mustRun(c, w.newPlan(200, 12*time.Second, 4))
}

// A bus that is away for less than the lease costs nothing.
func TestShortCut(t *testing.T) {
	t.Parallel()
	for try := 1; ; try++ {
		w := newWorld(t)
		w.startAgent("a", 1)
		w.startAgent("b", 1)
		c := w.newController()
		away := cutShort(c)
		r := w.mustRun(c, w.newPlan(1000, 5*time.Second, 4))
		if away() > Lease && try < 5 { // a busy machine made the cut a long one
			t.Logf("try %d: nothing of a came for %v", try, away())
			continue
		}
		w.checkServed(r)
		if r.Requests.Sent != 5000 {
			t.Errorf("%+v", r.Requests)
		}
		return
	}
}

// cutShort keeps what agent a says in the first 3 s of the load from a controller. It returns
// for how long the controller then heard nothing of a.
func cutShort(c *Controller) (away func() time.Duration) {
	var begun, heard time.Time
	var longest time.Duration
	since := func(now time.Time) {
		if !heard.IsZero() {
			longest = max(longest, now.Sub(heard))
		}
	}
	c.Progress = func(line string) {
		if strings.HasPrefix(line, "a was lost") {
			since(time.Now())
		}
	}
	c.alter = func(m *nats.Msg) []*nats.Msg {
		agent, what, _ := wire.ParseSubject(m.Subject)
		now := time.Now()
		if what == wire.Reported && begun.IsZero() {
			begun = now
		}
		if agent != "a" {
			return []*nats.Msg{m}
		}
		if !begun.IsZero() && now.Sub(begun) < 3*time.Second {
			return nil
		}
		since(now)
		heard = now
		return []*nats.Msg{m}
	}
	return func() time.Duration { return longest }
}

// Without its controller an agent ends the load, and serves whoever comes next.
func TestDeadMan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	w.startAgent("b", 1)
	c := w.newController()
	gone := make(chan time.Time, 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		w.tryRun(t.Context(), c, w.newPlan(1000, time.Hour, 4), onceInSecond(1, func() {
			c.Conn.Close()
			gone <- time.Now()
		}))
	}()
	at := <-gone
	for n := w.servedCount() - 1; n != w.servedCount(); time.Sleep(500 * time.Millisecond) {
		if time.Since(at) > time.Minute {
			t.Fatal("a minute after the controller has gone there is still load")
		}
		n = w.servedCount()
	}
	t.Logf("there was no more load %v after the controller had gone", time.Since(at).Round(time.Millisecond))
	<-over
	p := w.newPlan(0, 0, 4) // whoever comes next is served
	p.Requested = 100
	r := w.mustRun(w.newController("a", "b"), p)
	if r.Requests.Completed != 100 || !r.Fleet.AddsUp {
		t.Errorf("%+v", r.Requests)
	}
}

// The lease is as long as it says, by whatever clock: an agent gives up its controller when
// it is over, and a controller its agent, and neither does before.
func TestLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	heard := time.Now()
	for after, gone := range map[time.Duration]bool{0: false, Lease: false, Lease + deadlineInterval: true} {
		ctx, stop := context.WithCancelCause(t.Context())
		s := &agentService{Agent: &Agent{Name: "a", Conn: w.connect()},
			job: &job{stage: stageLoading, heardAt: heard, ctx: ctx, cancel: stop}}
		s.checkTimers(heard.Add(after))
		if (ctx.Err() != nil) != gone || s.job == nil {
			t.Errorf("an agent that heard nothing for %v: gave up: %v", after, ctx.Err())
		}
		m := newMember(FoundAgent{Name: "a"})
		m.heardAt = heard
		r := &fleetRun{Controller: w.newController(), members: []*member{m}, clock: newClock(0), runPhase: runPhase{armed: true},
			onLoss: Abort, together: newReports(t)}
		r.checkDeadlines(heard.Add(after))
		if (m.lost != "") != gone || r.stopped != gone || r.endedByLoss != gone {
			t.Errorf("a controller that heard nothing for %v: lost %q, stopped: %v", after, m.lost, r.stopped)
		}
	}
}

// Whoever did not hear that the run is over, or that it was given up, is told again.
func TestToldAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for why, change := range map[string]func(*fleetRun, *member){
		"":                        func(*fleetRun, *member) {},
		"stopped by hand":         func(r *fleetRun, _ *member) { r.stopMembers("stopped by hand", true) },
		"it was given up: silent": func(r *fleetRun, m *member) { m.giveUp(r, "silent") },
	} {
		m := newMember(FoundAgent{Name: "a", Hello: wire.Hello{Epoch: "e"}})
		r := &fleetRun{Controller: w.newController(), id: newRandomID(), members: []*member{m}, clock: newClock(0),
			byName: map[string]*member{"a": m}, together: newReports(t)}
		agent := w.connect()
		heard, err := agent.SubscribeSync(wire.CommandsPattern("a"))
		if err == nil {
			err = agent.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		change(r, m)
		r.handleMessage(&nats.Msg{Subject: wire.EventSubject("a", wire.Alive), Data: wire.Encode(m.runRef(r))}, time.Now())
		if err := r.Conn.Flush(); err != nil {
			t.Fatal(err)
		}
		if why == "" {
			if err := agent.Flush(); err != nil { // what there is has come
				t.Fatal(err)
			}
			if m, err := heard.NextMsg(100 * time.Millisecond); err == nil {
				t.Errorf("one that may go on is told %s", m.Data)
			}
			continue
		}
		for range 2 { // at once, and again
			msg, err := heard.NextMsg(time.Minute)
			if err != nil {
				t.Fatalf("%q: %v", why, err)
			}
			i, err := wire.ParseInstruction(msg.Data, w.public.Verify)
			if err != nil || i.RunRef != m.runRef(r) || i.Agent != "a" || i.Verb != wire.StopLoad ||
				i.Stop.Why != why || i.Stop.Aborted != (m.lost == "") {
				t.Errorf("%q: told %+v, %v", why, i, err)
			}
		}
	}
}

// An agent that was started again has no part in the run that it was in.
func TestRestartedAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conn, end := w.startAgent("a", 1)
	w.startAgent("b", 1)
	c := w.newController()
	c.OnLoss = Continue
	r, err := w.tryRun(t.Context(), c, w.newPlan(1000, 14*time.Second, 4), onceInSecond(1, func() {
		conn.Close()
		end()
		w.startAgent("a", 1)
	}))
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Fleet.Agents[0]; a.Lost == "" || a.Final || a.Covered > *a.LostAfter-4 ||
		float64(a.Requests.Sent) > 500*a.Covered+1 {
		t.Errorf("%+v", a)
	}
	p := w.newPlan(0, 0, 4)
	p.Requested = 100
	if r := w.mustRun(w.newController("a", "b"), p); r.Requests.Completed != 100 || len(r.Fleet.Agents) != 2 {
		t.Errorf("the next run: %+v", r.Fleet)
	}
}

// An agent has one run at a time, and a second controller does not disturb the first.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	w.startAgent("b", 1)
	second := make(chan error, 1)
	r, err := w.tryRun(t.Context(), w.newController(), w.newPlan(500, 6*time.Second, 4), onceInSecond(0, func() {
		_, err := w.tryRun(t.Context(), w.newController("b"), w.newPlan(500, time.Second, 4), nil)
		second <- err
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := <-second; err == nil || !strings.Contains(err.Error(), "b refuses: it is busy") {
		t.Error(err)
	}
	w.checkServed(r)
	if r.Requests.Sent != 3000 {
		t.Errorf("%+v", r.Requests)
	}
}

// dyno fleet stop ends what every agent runs that obeys whoever gives it.
func TestStopAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	conn := w.connect()
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.tryRun(t.Context(), w.newController(), w.newPlan(500, time.Hour, 4), onceInSecond(0, func() {
		var err error
		for range 5 { // who does not answer in time counts as one that obeys
			if err = StopAllRuns(t.Context(), conn, stranger.Sign, "by a stranger"); err != nil {
				break
			}
			t.Log("nobody answered in time")
		}
		if err == nil || !strings.Contains(err.Error(), "go on: a; do they obey another plan key") {
			t.Error(err)
		}
		if err := StopAllRuns(t.Context(), conn, w.key.Sign, "stopped by hand"); err != nil {
			t.Error(err)
		}
	}))
	if err != nil || r.Ended != string(loadresult.Lost) || r.Fleet.Agents[0].Lost != "stopped by hand" ||
		!r.Fleet.Agents[0].Final || !r.Fleet.AddsUp {
		t.Errorf("%+v %v", r, err)
	}
}

// Who has seen the messages of a run cannot make another of them: an order is good for one
// run, one agent and one life of it, and nobody can change it.
func TestReplayedPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	spy, seen := w.connect(), make(chan *nats.Msg, 1000)
	if _, err := spy.ChanSubscribe(wire.CommandsPattern("a"), seen); err != nil {
		t.Fatal(err)
	}
	if err := spy.Flush(); err != nil {
		t.Fatal(err)
	}
	p := w.newPlan(0, 0, 2)
	p.Requested = 100
	w.checkServed(w.mustRun(w.newController(), p))
	answers, err := spy.SubscribeSync(wire.EventSubject("a", wire.OrderAnswered))
	if err != nil {
		t.Fatal(err)
	}
	var order wire.Piece
	var again *nats.Msg
	for again == nil {
		m := <-seen
		if _, verb, _ := wire.ParseSubject(m.Subject); verb == wire.DeliverPlan {
			again = m
		}
	}
	if err := wire.Decode(again.Data, &order); err != nil {
		t.Fatal(err)
	}
	other := order
	other.Run = "another"
	tampered := other
	tampered.Run, tampered.Data = "a third", append([]byte{}, order.Data...)
	tampered.Data[len(tampered.Data)/2] ^= 1
	former := order
	former.Run, former.Epoch = "a fourth", "another life"
	for _, c := range []struct {
		order wire.Piece
		why   string
	}{{order, "no answer to what this agent said of late"}, {other, "another agent or another run"},
		{tampered, "damaged on its way"}, {former, "a life of this agent that is over"}} {
		if err := spy.Publish(again.Subject, wire.Encode(c.order)); err != nil {
			t.Fatal(err)
		}
		m, err := answers.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var a wire.Answer
		if err := wire.Decode(m.Data, &a); err != nil || !strings.Contains(a.Refused, c.why) {
			t.Errorf("%+v %v, want %s", a, err, c.why)
		}
	}
	if n := w.servedCount(); n != 100 {
		t.Errorf("the server had %d requests", n)
	}
}

// An offset is that of the quickest exchange, and wrong by half its delay at most.
func TestOffset(t *testing.T) {
	o := unknownOffset()
	for _, c := range []struct {
		begun, ended, asked, answered int64
		want                          clockOffset
	}{
		{100, 200, 1150, 1150, clockOffset{1000, 50}},
		{300, 320, 1318, 1318, clockOffset{1008, 10}}, // most of the way there
		{400, 900, 1000, 1000, clockOffset{1008, 10}},
		{1000, 1009, 2005, 2006, clockOffset{1001, 4}},
		{1000, 1009, 2005, 2090, clockOffset{1001, 4}}, // an agent whose clock runs backwards
	} {
		if o = o.withExchange(c.begun, c.ended, wire.ClockSync{ReceivedAt: c.asked, RepliedAt: c.answered}); o != c.want {
			t.Errorf("%+v: %+v", c, o)
		}
	}
	if o.toAgent(7) != 1008 || o.toController(1008) != 7 {
		t.Error(o)
	}
	c := newClock(-3 * time.Hour)
	now := time.Now()
	if back := c.instantOf(c.readingAt(now)); !back.Equal(now) {
		t.Errorf("%v, was %v", back, now)
	}
}

// Reports are said in order, wait until they are acknowledged, and are due again in order.
func TestSpool(t *testing.T) {
	var s spool
	now := time.Now()
	for i := range 5 {
		s.addReport(wire.Report{})
		if got := s.dueReports(now.Add(time.Duration(i) * time.Millisecond)); len(got) != 1 {
			t.Errorf("%d are said when one is new", len(got))
		}
	}
	if got := s.dueReports(now.Add(resendDelay - 1)); got != nil {
		t.Errorf("%d are said again too early", len(got))
	}
	if got := s.dueReports(now.Add(resendDelay + 2*time.Millisecond)); len(got) != 3 {
		t.Errorf("%d are said again, not the first three", len(got))
	}
	if got := s.dueReports(now.Add(resendDelay + 5*time.Millisecond)); got != nil {
		t.Errorf("%d are said out of order", len(got))
	}
	s.acknowledgeUpTo(4, now.Add(4*time.Millisecond))
	if got := s.dueReports(now.Add(3 * resendDelay)); len(got) != 1 || !strings.Contains(string(got[0]), `"seq":5`) {
		t.Errorf("%s", got)
	}
	s.acknowledgeUpTo(99, now.Add(3*resendDelay))
	if len(s.unacked) != 0 || s.isFull() {
		t.Error(s)
	}
}

// Of a result of days only so much is under way at once, in number and bytes; the rest follows what
// is acknowledged, and all of it comes.
func TestSpoolGoesAheadSoFar(t *testing.T) {
	for _, c := range []struct{ reports, bytes, most int }{{300, 10, inFlightMax}, {50, 200 << 10, windowMax / (200 << 10)}} {
		var s spool
		now := time.Now()
		for range c.reports {
			s.addReport(wire.Report{Data: make([]byte, c.bytes)})
		}
		came, under := 0, 0
		for came < c.reports {
			texts := s.dueReports(now)
			under += len(texts)
			if under > c.most || under == 0 {
				t.Fatalf("%d of %d bytes are under way, want %d at most", under, c.bytes, c.most)
			}
			came++
			under--
			s.acknowledgeUpTo(int64(came), now)
		}
	}
}
