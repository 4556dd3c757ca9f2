package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// A spy records all commands, as who owns the bus can.
type spy struct {
	conn *nats.Conn
	mu   sync.Mutex
	all  map[string][]byte // by subject, the last
}

func (w *world) spy() *spy {
	w.t.Helper()
	s := &spy{conn: w.connect(), all: map[string][]byte{}}
	_, err := s.conn.Subscribe("dyno.cmd.>", func(m *nats.Msg) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all[m.Subject] = m.Data
	})
	if err == nil {
		err = s.conn.Flush()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// lastHeard is the last command of that verb to an agent.
func (s *spy) lastHeard(agent, verb string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[wire.CommandSubject(agent, verb)]
}

// A listener keeps what an agent says to whoever owns its machine.
type listener struct {
	mu    sync.Mutex
	lines []string
}

func (l *listener) addLine(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *listener) hasLine(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lines, func(line string) bool { return strings.Contains(line, text) })
}

func (l *listener) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// tamperWith is a signed message with something else in it.
func tamperWith(t *testing.T, b []byte, old, new string) []byte {
	t.Helper()
	var s struct {
		Text      []byte `json:"text"`
		Signature []byte `json:"signature"`
	}
	if err := json.Unmarshal(b, &s); err != nil || !bytes.Contains(s.Text, []byte(old)) {
		t.Fatalf("%s has no %s: %v", s.Text, old, err)
	}
	s.Text = bytes.Replace(s.Text, []byte(old), []byte(new), 1)
	return wire.Encode(s)
}

// Who owns the bus, and has recorded everything that was ever said there, can neither end
// the load of an agent nor change or keep it; and the agent's owner reads of the attempt.
func TestHostileBus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := new(listener)
	w.startAgent("a", 1, func(a *Agent) { a.Log = said.addLine })
	w.startAgent("b", 1)
	spy := w.spy()
	ctx, stop := context.WithCancel(t.Context())
	_, err := w.tryRun(ctx, w.newController("a", "b"), w.newPlan(500, time.Hour, 4), onceInSecond(0, stop))
	if err != nil {
		t.Fatal(err)
	}
	stopA, stopB := spy.lastHeard("a", wire.StopLoad), spy.lastHeard("b", wire.StopLoad)
	openA, beat := spy.lastHeard("a", wire.OpenConnections), spy.lastHeard(wire.Everyone, wire.Heartbeat)
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	sign := func(i wire.Instruction, sign func([]byte) ([]byte, error)) []byte {
		b, err := i.EncodeSigned(sign)
		if err != nil {
			t.Error(err)
		}
		return b
	}
	var reasons []string
	inject := func(verb string, b []byte, reason string) {
		if b == nil {
			t.Errorf("nothing was recorded: %s", reason)
		}
		reasons = append(reasons, fmt.Sprintf("ignored: dyno.cmd.a.%s: %s", verb, reason))
		if err := spy.conn.Publish(wire.CommandSubject("a", verb), b); err != nil {
			t.Error(err)
		}
	}
	r, err := w.tryRun(t.Context(), w.newController("a", "b"), w.newPlan(500, 3*time.Second, 4), onceInSecond(0, func() {
		arm, open := spy.lastHeard("a", wire.Arm), spy.lastHeard("a", wire.OpenConnections)
		i, err := wire.ParseInstruction(arm, w.public.Verify)
		if err != nil {
			t.Error(err)
		}
		i.Verb, i.Start, i.Stop = wire.StopLoad, 0, &wire.Stop{Why: "forged"}
		inject(wire.StopLoad, stopA, "it is of run")
		inject(wire.OpenConnections, openA, "it is of run")
		inject(wire.StopLoad, stopB, "it is for another agent")
		inject(wire.StopLoad, tamperWith(t, stopA, `"verb":"stop"`, `"verb":"halt"`), "nkeys: signature verification failed")
		inject(wire.StopLoad, tamperWith(t, arm, `"verb":"arm"`, `"verb":"stop"`), "nkeys: signature verification failed")
		inject(wire.StopLoad, arm, `it was said as "arm"`)
		inject(wire.Arm, arm, "it was said before")
		inject(wire.OpenConnections, open, "it was said before")
		inject(wire.StopLoad, wire.Encode(i), "reading a message of the fleet")
		inject(wire.StopLoad, sign(i, func([]byte) ([]byte, error) { return nil, nil }), "nkeys: signature verification failed")
		inject(wire.StopLoad, sign(i, stranger.Sign), "nkeys: signature verification failed")
		i.Epoch = "another life"
		inject(wire.StopLoad, sign(i, w.key.Sign), "it is for a life of this agent that is over")
	}))
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Fleet.Agents[0]; r.Requests.Completed != 1500 || !r.Fleet.AddsUp || a.Lost != "" || !a.Final ||
		a.Requests.Sent != 750 || r.Ended != string(loadresult.ByDuration) {
		t.Errorf("%+v, %s, %+v", r.Requests, r.Ended, a)
	}
	for _, reason := range reasons {
		if !said.hasLine(reason) {
			t.Errorf("the agent's owner does not read %q in\n%s", reason, said)
		}
	}
	// Beats of a run that is over keep nobody, and none of them is worth a line.
	if err := spy.conn.Publish(wire.CommandSubject(wire.Everyone, wire.Heartbeat), beat); err != nil {
		t.Fatal(err)
	}
	w.awaitAgent("a")
	if said.hasLine("all.beat") {
		t.Error(said)
	}
}

// Who owns the bus and holds up a whole run from its first word on cannot have it carried out
// later, nor keep its load alive by what he has held up.
func TestHeldUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := new(listener)
	w.startAgent("a", 1, func(a *Agent) { a.Log = said.addLine })
	controller := w.connect()
	found, err := Discover(t.Context(), controller, []string{"a"}, namedHelloTimeout)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	answers, err := controller.SubscribeSync(wire.EventSubject("a", wire.OrderAnswered))
	if err != nil {
		t.Fatal(err)
	}
	m := newMember(found[0])
	m.part = w.newPlan(100, time.Hour, 1)
	r := &fleetRun{Controller: &Controller{Conn: controller, Sign: w.key.Sign}, id: newRandomID(), members: []*member{m},
		clock: clock{origin: time.Now()}}
	m.helloAt = m.helloAt.Add(Lease + time.Second) // as if what follows had come so late
	if err := r.sendOrders(); err != nil {
		t.Fatal(err)
	}
	if msg, err := answers.NextMsg(time.Minute); err != nil || strings.Contains(string(msg.Data), "refused") {
		t.Fatal(msg, err)
	}
	r.instructMembers((*member).isMember, func(*member) wire.Instruction { return wire.Instruction{Verb: wire.OpenConnections} })
	for range 600 {
		if said.hasLine("ignored: dyno.cmd.a.open: it was said 6") {
			break
		}
		time.Sleep(deadlineInterval)
	}
	if !said.hasLine("it was said 6") || said.hasLine("connections") {
		t.Error(said)
	}
}

// A controller that is dead stays dead: who has kept its last beats and acknowledgements
// cannot have its load go on by them.
func TestKeptBeats(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := new(listener)
	now := time.Now()
	ctx, stop := context.WithCancelCause(t.Context())
	s := &agentService{Agent: &Agent{Name: "a", Verify: w.public.Verify, Log: said.addLine, Conn: w.connect()}, epoch: "e",
		clock: newClock(0), job: &job{RunRef: wire.RunRef{Run: "r", Epoch: "e"}, stage: stageLoading, heardAt: now.Add(-1), ctx: ctx, cancel: stop,
			lastNumbers: map[string]int64{}}}
	beat := func(number int64, said time.Duration) []byte {
		b, err := wire.Instruction{RunRef: wire.RunRef{Run: "r"}, Agent: wire.Everyone, Verb: wire.Heartbeat, Number: number,
			SentAt: int64(said)}.EncodeSigned(w.key.Sign)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		after time.Duration // by the agent's clock
		b     []byte
		why   string
	}{
		{0, beat(1, 0), ""},
		{2 * time.Second, beat(2, 2*time.Second), ""},
		{2 * time.Second, beat(2, 2*time.Second), "it was said before"},
		{6 * time.Second, beat(5, 5*time.Second), ""}, // it took a second longer than the first
		{6 * time.Second, beat(4, 4*time.Second), "it was said before"},
		{10500 * time.Millisecond, beat(6, 5500*time.Millisecond), ""},
		{10600 * time.Millisecond, beat(7, 5500*time.Millisecond), "it was said 5."}, // held up
	} {
		before := s.job.heardAt
		err := s.handleInstruction(c.b, wire.Heartbeat, now.Add(c.after))
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("after %v: %v, want %q", c.after, err, c.why)
		}
		if (s.job.heardAt == before) != (c.why != "") {
			t.Errorf("after %v: the controller was heard at %v", c.after, s.job.heardAt.Sub(now))
		}
	}
	ack := wire.Encode(wire.Ack{RunRef: s.job.RunRef, Seq: 1})
	s.handleCommand(&nats.Msg{Subject: wire.CommandSubject("a", wire.Acknowledge), Data: ack}, now.Add(15*time.Second))
	s.checkTimers(now.Add(15600 * time.Millisecond))
	if ctx.Err() == nil || !said.hasLine("nothing was heard of the controller") {
		t.Errorf("it goes on: %s", said)
	}
}

// However fast one clock goes beside the other, as far as clocks do, what comes at once is
// not old; what is held up is.
func TestPace(t *testing.T) {
	for _, gains := range []float64{-1e-3, -50e-6, 0, 50e-6, 0.9e-3} {
		const start = -3 * int64(time.Hour)
		p := ageBound{start, start}
		for said := range 24 * 3600 * 2 { // of half a second each
			at := int64(said) * int64(heartbeatInterval)
			if age := p.oldestAge(at, start+int64(float64(at)*(1+gains))); age > time.Second {
				t.Fatalf("gaining %g: %v old after %v", gains, age, time.Duration(at))
			}
		}
		at := 24 * 3600 * 2 * int64(heartbeatInterval)
		came := start + int64(float64(at)*(1+gains)) + int64(6*time.Second)
		if age := p.oldestAge(at, came); age <= Lease {
			t.Errorf("gaining %g: what was held up for 6 s is %v old", gains, age)
		}
	}
	p := ageBound{1000, 1000} // the order was an answer to what was said then
	for said := range 2 * 60 {
		at := int64(said) * int64(heartbeatInterval)
		if age := p.oldestAge(at, 1000+at+int64(6*time.Second)); age <= Lease {
			t.Errorf("what is held up for 6 s as all before it was is %v old", age)
		}
	}
}

// Who owns the bus cannot have a plan sealed to a key of his own where it is known who
// the agents are.
func TestVouch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keys := map[string]nkeys.KeyPair{}
	for _, name := range []string{"a", "b", "c"} {
		key, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		keys[name] = key
		w.startAgent(name, 1, func(a *Agent) {
			if name != "c" {
				a.Sign = key.Sign
			}
		})
	}
	vouch := func(agent string, text, signature []byte) error { return keys[agent].Verify(text, signature) }
	c := w.newController("a", "b")
	c.VerifyAgent = vouch
	p := w.newPlan(0, 0, 4)
	p.Requested = 100
	w.checkServed(w.mustRun(c, p))
	refused := func(names ...string) {
		t.Helper()
		c := w.newController(names...)
		c.VerifyAgent = vouch
		err := c.ChooseAgents(t.Context())
		if _, flaw := errors.AsType[loadplan.Flaw](err); !flaw ||
			!strings.Contains(err.Error(), names[0]+": somebody else may be in its place") {
			t.Errorf("%s: %v", names[0], err)
		}
	}
	refused("c", "a")
	if err := w.newController("c", "a").ChooseAgents(t.Context()); err != nil {
		t.Errorf("where nobody vouches: %v", err)
	}
	keys["b"] = keys["a"]
	refused("b")
	h := wire.Hello{Epoch: "e", Key: "k"}
	others := []wire.Hello{{Epoch: "f", Key: "k"}, {Epoch: "e", Key: "l"}}
	for _, other := range others {
		if bytes.Equal(h.KeyClaim("a"), other.KeyClaim("a")) {
			t.Errorf("%+v is claimed as %+v is", other, h)
		}
	}
	if bytes.Equal(h.KeyClaim("a"), h.KeyClaim("b")) {
		t.Error("a key is claimed for nobody")
	}
}

// An agent that is heard and does not come to an end is given up, in time.
func TestOverdue(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Warmup, p.Duration, p.Drain = loadplan.Seconds(time.Second), loadplan.Seconds(10*time.Second), loadplan.Seconds(2*time.Second)
	p.Timeout, p.Connecting = loadplan.Seconds(3*time.Second), loadplan.Seconds(5*time.Second)
	requests := p
	requests.Duration, requests.Requested = 0, 1000
	const start = int64(100 * time.Second)
	for _, c := range []struct {
		plan            loadplan.Plan
		reported, after time.Duration // the start
		rest            bool          // of its final is on its way
		why             string
	}{
		{p, 0, 11 * time.Second, false, ""},
		{p, time.Second, 10999 * time.Millisecond, false, ""},
		{p, 13 * time.Second, 28 * time.Second, false, ""},
		{p, 13 * time.Second, 28*time.Second + 1, false, "has not finished 17 s after its end"},
		{p, 28 * time.Second, 29 * time.Second, false, "has not finished 18 s after its end"}, // reports for ever
		{p, 28 * time.Second, 38 * time.Second, true, ""},
		{p, 28 * time.Second, 38*time.Second + 1, true, "has not finished 27 s"},
		{requests, 0, 16 * time.Second, false, ""},
		{requests, 0, 16*time.Second + 1, false, "has reported nothing for 15 s"},
		{requests, time.Hour, time.Hour + 15*time.Second, false, ""},
		{requests, time.Hour, time.Hour + 15*time.Second + 1, false, "has reported nothing for 15 s"},
	} {
		m := &member{reportState: reportState{reportedAt: start + int64(c.reported)}}
		m.finalBegun = c.rest
		why := m.whyOverdue(c.plan, start, start+int64(c.after))
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%v after the start, reported after %v: %q, want %q", c.after, c.reported, why, c.why)
		}
	}
	// However often one says a piece of what it measured, it must come to an end of that.
	p.Duration = 0
	dawdler := &member{reportState: reportState{finalBegun: true, finalBegunAt: start + int64(time.Hour)}}
	longest := 15*time.Second + 75*time.Second // the final has 10 s, and 65 s for 2 MiB
	for after, want := range map[time.Duration]string{0: "", longest: "", longest + 1: "not told in 90 s"} {
		dawdler.reportedAt = dawdler.finalBegunAt + int64(after)
		if why := dawdler.whyOverdue(p, start, dawdler.reportedAt); !strings.Contains(why, want) || (why == "") != (want == "") {
			t.Errorf("after %v of its final: %q, want %q", after, why, want)
		}
	}
	p.Duration = loadplan.Seconds(time.Hour)
	m := &member{reportState: reportState{reportedAt: start + int64(10*time.Second)}}
	if why := m.whyOverdue(p, start, start+int64(26*time.Second)); !strings.Contains(why, "reported nothing for 16 s") {
		t.Errorf("in the middle of a load: %q", why)
	}
}

// An agent whose last word never comes is not waited for, though it is heard all the time.
func TestNeverFinishes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	w.startAgent("b", 1)
	c := w.newController()
	c.OnLoss = Continue
	c.alter = func(m *nats.Msg) []*nats.Msg {
		var r wire.Report
		agent, what, _ := wire.ParseSubject(m.Subject)
		if agent == "a" && what == wire.Reported && wire.Decode(m.Data, &r) == nil && r.Data != nil {
			return nil
		}
		return []*nats.Msg{m}
	}
	p := w.newPlan(500, 2*time.Second, 4)
	p.Timeout, p.Connecting, p.Drain = loadplan.Seconds(time.Second), loadplan.Seconds(time.Second), loadplan.Seconds(4*time.Second)
	r := w.mustRun(c, p)
	a, b := r.Fleet.Agents[0], r.Fleet.Agents[1]
	if !strings.Contains(a.Lost, "it beats, but has not finished 1") || a.Final || a.Requests.Sent != 500 ||
		a.Covered != 2 || b.Lost != "" || !b.Final || r.Ended != string(loadresult.ByDuration) {
		t.Errorf("%s %+v %+v", r.Ended, a, b)
	}
}

// Beside the load a clock is looked at now and then, and how far it has gone is told.
func TestDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.connect()
	heard, err := agent.SubscribeSync(wire.CommandsPattern("a"))
	if err == nil {
		err = agent.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	const ahead, gained = int64(3 * time.Hour), int64(40 * time.Millisecond)
	m := newMember(FoundAgent{Name: "a", Hello: wire.Hello{Epoch: "e"}})
	r := &fleetRun{Controller: w.newController(), id: newRandomID(), members: []*member{m},
		clock: clock{origin: time.Now().Add(-time.Minute)}, byName: map[string]*member{"a": m}, runPhase: runPhase{armed: true},
		plan: w.newPlan(1, time.Hour, 1)}
	m.offset, m.reportedAt = clockOffset{ahead, 1000}, r.clock.currentReading()
	asked := func() bool {
		t.Helper()
		if err := errors.Join(r.Conn.Flush(), agent.Flush()); err != nil { // what there is has come
			t.Fatal(err)
		}
		for {
			msg, err := heard.NextMsg(100 * time.Millisecond)
			if err != nil {
				return false
			}
			if _, verb, _ := wire.ParseSubject(msg.Subject); verb != wire.SyncClock {
				continue
			}
			var q wire.ClockSync
			if err := wire.Decode(msg.Data, &q); err != nil {
				t.Fatal(err)
			}
			q.ReceivedAt = r.clock.currentReading() + ahead + gained
			q.RepliedAt = q.ReceivedAt
			r.handleMessage(&nats.Msg{Subject: wire.EventSubject("a", wire.ClockSynced), Data: wire.Encode(q)}, time.Now())
			return true
		}
	}
	now := time.Now()
	r.start = r.clock.readingAt(now) - int64(syncInterval) + int64(time.Second)
	if r.checkDeadlines(now); asked() {
		t.Error("asked too early")
	}
	r.start -= int64(time.Second)
	r.checkDeadlines(now)
	n := 0
	for asked() {
		n++
	}
	if n != laterSyncs || !m.drift.known || m.offset.ahead != ahead {
		t.Fatalf("asked %d times: %+v, %+v", n, m.drift, m.offset)
	}
	if off := math.Abs(float64(m.drift.moved - gained)); off > float64(m.drift.bound) || m.drift.bound < 1000 {
		t.Errorf("a clock that gained %d ns: %+v", gained, m.drift)
	}
	d := m.drift.withLaterOffset(clockOffset{0, 5}, clockOffset{-7, 3})
	if d != m.drift {
		t.Errorf("what was farthest is forgotten: %+v", d)
	}
	noisy := int64(time.Second)
	if d := d.withLaterOffset(clockOffset{0, 5}, clockOffset{noisy, noisy}); d != m.drift {
		t.Errorf("what a busy machine shows is taken for a drift: %+v", d)
	}
	if d := d.withLaterOffset(clockOffset{0, 5}, clockOffset{-int64(time.Second), 3}); d != (clockDrift{true, -int64(time.Second), 8}) {
		t.Errorf("%+v", d)
	}
}

// Agents whose clocks are not known well enough do not begin, unless they are to all the same.
func TestLooseStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1)
	w.startAgent("b", 1)
	p := w.newPlan(500, time.Second, 4)
	run := func(loose bool, names ...string) (*result.Result, error) {
		c := w.newController(names...)
		c.LooseStart = loose
		c.alter = func(m *nats.Msg) []*nats.Msg {
			if agent, what, _ := wire.ParseSubject(m.Subject); agent == "b" && what == wire.ClockSynced {
				time.Sleep(12 * time.Millisecond)
			}
			return []*nats.Msg{m}
		}
		return w.tryRun(t.Context(), c, p, nil)
	}
	_, err := run(false, "a", "b")
	if _, is := errors.AsType[MissingAgent](err); !is || !strings.Contains(err.Error(), "b's to ") ||
		!strings.Contains(err.Error(), "--loose-start") {
		t.Errorf("%v", err)
	}
	if n := w.servedCount(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	r, err := run(true, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(r.Generator.Reasons, " "), "clocks may differ by up to") || r.Requests.Sent != 500 {
		t.Errorf("%+v %q", r.Requests, r.Generator.Reasons)
	}
	if _, err := run(false, "b"); err != nil {
		t.Errorf("one alone: %v", err)
	}
}
