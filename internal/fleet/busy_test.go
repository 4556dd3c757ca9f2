package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fleet/wire"
)

// An agent is busy until its controller has all that it measured: with another run it would drop the
// rest of it. Then it is free at once.
func TestBusyWhileReporting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1, unhurriedly)
	c, conn := w.newController("a"), w.connect()
	c.lease = unhurried
	p := w.newPlan(100, time.Second, 2)
	p.Timeout = loadplan.Seconds(time.Second)
	var found []FoundAgent
	var second error
	c.alter = func(m *nats.Msg) []*nats.Msg {
		var r wire.Report
		if _, what, _ := wire.ParseSubject(m.Subject); found != nil || what != wire.Reported ||
			wire.Decode(m.Data, &r) != nil || r.Data == nil {
			return []*nats.Msg{m}
		}
		for len(found) == 0 { // what came of the final is lost, and others ask for the agent meanwhile
			var err error
			if found, err = Discover(t.Context(), conn, []string{"a"}, time.Second); err != nil {
				t.Fatal(err)
			}
		}
		_, second = w.tryRun(t.Context(), w.newController("a"), p, nil)
		return nil
	}
	if r := w.mustRun(c, p); r.Requests.Sent != 100 || !r.Fleet.Agents[0].Final {
		t.Errorf("the first run: %+v, %+v", r.Requests, r.Fleet)
	}
	if second == nil || !strings.Contains(second.Error(), "a refuses: it is busy") {
		t.Errorf("the second run: %v", second)
	}
	if found[0].Busy == "" || !found[0].Reporting {
		t.Errorf("others are told %+v", found[0].Hello)
	}
	c.alter = nil
	if r := w.mustRun(c, p); r.Requests.Sent != 100 {
		t.Errorf("the run after it: %+v", r.Requests)
	}
}

// An agent of whose run nothing is wanted any more is free, though it has things to tell.
func TestFreeAfterDistrust(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startAgent("a", 1, unhurriedly)
	w.startAgent("b", 1, unhurriedly)
	c := w.newController("a", "b")
	c.OnLoss, c.lease = Continue, unhurried
	c.alter = func(m *nats.Msg) []*nats.Msg {
		var r wire.Report
		if agent, what, _ := wire.ParseSubject(m.Subject); agent == "a" && what == wire.Reported &&
			wire.Decode(m.Data, &r) == nil && r.Tick != nil {
			r.Tick.Completed++
			m.Data = wire.Encode(r)
		}
		return []*nats.Msg{m}
	}
	p := w.newPlan(100, 3*time.Second, 2)
	r := w.mustRun(c, p)
	if a := r.Fleet.Agents[0]; !strings.Contains(a.Lost, "does not add up") || a.Final {
		t.Errorf("%+v", a)
	}
	c.alter = nil
	for try := range 60 { // where the load of a was not over, it ends
		if r, err := w.tryRun(t.Context(), c, p, nil); err == nil {
			if r.Requests.Sent != 300 || !r.Fleet.AddsUp {
				t.Errorf("%+v", r.Requests)
			}
			return
		} else if !strings.Contains(err.Error(), "a refuses: it is busy") {
			t.Fatal(err)
		}
		t.Logf("try %d: it is busy", try+1)
		time.Sleep(500 * time.Millisecond)
	}
	t.Error("it stays busy")
}

// An agent whose controller is gone before it has heard all is free when it was silent for Lease.
func TestFreeAfterSilence(t *testing.T) {
	heard := time.Now()
	s := &agentService{Agent: &Agent{}}
	for stage, over := range map[jobStage]bool{stageOrdered: false, stageLoading: false, stagePackingFinal: true,
		stageFinished: true} {
		s.job = &job{stage: stage, heardAt: heard}
		s.job.spool.addReport(wire.Report{})
		if !s.isBusy(heard.Add(Lease)) || s.isBusy(heard.Add(Lease+1)) == over {
			t.Errorf("stage %d: busy %v, and then %v", stage, s.isBusy(heard.Add(Lease)), s.isBusy(heard.Add(Lease+1)))
		}
		s.job.spool.acknowledgeUpTo(1, heard)
		if s.isBusy(heard) == (stage == stageFinished) {
			t.Errorf("stage %d, all is acknowledged: busy %v", stage, s.isBusy(heard))
		}
	}
}
