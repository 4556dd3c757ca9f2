package load

import (
	"testing"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// A stoppedRing is a simulated one whose thread is stopped once, at an instant, for some time.
type stoppedRing struct {
	*ring.Sim
	at, length int64
}

func (r *stoppedRing) Wait(deadline int64) error {
	if r.length == 0 || deadline < r.at {
		return r.Sim.Wait(deadline)
	}
	err := r.Sim.Wait(r.at)
	if r.Now() >= r.at {
		r.Advance(r.Now() + r.length)
		r.length = 0
	}
	return err
}

// Whatever the load does, its thread notices that it was stopped: 1 s from second 2 on, of which
// the time is missing for which the thread was to sleep anyway.
func TestStandstill(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(p *loadplan.Plan)
		after   int64 // in which the server answers
		at      int64 // when the thread is stopped
		since   int64 // when the standstill begins, after the window's start, at the earliest
		length  int64 // at least, within sleepMost
		delayed int64
	}{
		"closed":       {func(p *loadplan.Plan) { p.Connections = 8 }, 2 * ms, 2 * s, 2 * s, s - sleepMost, 8},
		"closed, slow": {func(p *loadplan.Plan) { p.Connections = 8 }, 1700 * ms, 2 * s, 2 * s, s - sleepMost, 8},
		"open":         {func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(500) }, ms, 2 * s, 2 * s, s - 2*ms, 500},
		"idle":         {func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(0.5) }, ms, 2500 * ms, 2500 * ms, s - sleepMost, 0},
		"drain":        {func(p *loadplan.Plan) { p.Connections = 3 }, 900 * ms, 4100 * ms, 4100 * ms, s - sleepMost, 3},
		"warm-up":      {func(p *loadplan.Plan) { p.Warmup = loadplan.Seconds(4 * s) }, ms, 2 * s, 0, 0, 0},
		"warm-up and window": {func(p *loadplan.Plan) { p.Warmup = loadplan.Seconds(2500 * ms) }, ms, 2 * s, 0,
			500 * ms, 1},
		"short": {nil, ms, 2 * s, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := simPlan(func(p *loadplan.Plan) {
				if p.Duration = loadplan.Seconds(4 * s); c.change != nil {
					c.change(p)
				}
			})
			r := &stoppedRing{steady(c.after), c.at, s}
			if name == "short" {
				r.length = 5e6
			}
			got := simulate(t, p, r).StandstillTotals
			if got.StoodStillMost < c.length || got.StoodStillMost > c.length+sleepMost || got.StoodStill != got.StoodStillMost ||
				got.StoodStillSince < c.since || got.StoodStillSince > c.since+sleepMost || got.Delayed < c.delayed ||
				got.Delayed > c.delayed+1 {
				t.Errorf("%+v, want %d ns from %d on, %d delayed", got, c.length, c.since, c.delayed)
			}
		})
	}
}

// Random arrivals are those of the schedule whether or not the thread is stopped: what becomes due
// meanwhile is sent late, and none is lost.
func TestStandstillLosesNoArrival(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Rate, p.Arrival, p.Seed = loadplan.RatePerSecond(100), loadplan.Poisson, 1
		p.Connections, p.Duration, p.Drain = 200, loadplan.Seconds(4*s), loadplan.Seconds(10*s)
	})
	steadily := simulate(t, p, steady(ms))
	stopped := simulate(t, p, &stoppedRing{steady(ms), 2 * s, s})
	if a, b := steadily.Total.Sent, stopped.Total.Sent; a != b || stopped.StoodStill == 0 || stopped.Delayed < 50 {
		t.Errorf("%d requests, and %d where the thread was stopped: %+v", a, b, stopped.StandstillTotals)
	}
}

// A turn that took longer than its thread had the CPU was stopped; one that worked was not.
func TestStandstillInTurn(t *testing.T) {
	for name, c := range map[string]struct {
		turn, late, used int64 // how long a turn took, how late its thread woke then, and its CPU time
		ofAll            bool
		want             int64
	}{
		"work":            {200 * ms, 0, 200 * ms, false, 0},
		"stopped":         {200 * ms, 0, 20 * ms, false, 180 * ms},
		"a little":        {15 * ms, 0, 6 * ms, false, 0},
		"woke late":       {ms, 50 * ms, ms, false, 50 * ms},
		"both":            {100 * ms, 50 * ms, 30 * ms, false, 120 * ms},
		"work of waiting": {ms, 50 * ms, 51 * ms, false, 0}, // what io_uring submits, it does while one waits
		"work of others":  {ms, 50 * ms, 51 * ms, true, 50 * ms},
		"all stopped":     {200 * ms, 0, 20 * ms, true, 180 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			tally, cpu := loadresult.NewTotals(), 5*s
			w := &worker{account: account{totals: &tally}, Window: flow.Window{From: s, End: 20 * s}}
			w.Next = loadplan.AtOnce
			w.watch.CPU, w.watch.OfAll = func() int64 { return cpu }, c.ofAll
			w.now = 10 * s
			w.watch.Begin(w.now)
			w.turnBegan = w.now
			before := w.now + c.turn
			w.watch.Wake = before + 3*ms // it slept so long
			w.now, cpu = w.watch.Wake+c.late, cpu+c.used
			w.lookForStandstill(before)
			if tally.StoodStill != c.want {
				t.Errorf("stood still for %d ns, want %d", tally.StoodStill, c.want)
			}
		})
	}
}

// A request that two standstills delay is one delayed request.
func TestStandstillsDelayARequestOnce(t *testing.T) {
	tally := loadresult.NewTotals()
	w := &worker{account: account{totals: &tally}, Window: flow.Window{From: s, End: 20 * s}}
	w.Next = loadplan.AtOnce
	w.conns = make([]conn, 1)
	w.conns[0].exchanges = []exchange{{sent: 2 * s, live: true}, {sent: 3 * s, live: true}, {sent: 2 * s}}
	w.countStandstill(4*s, 5*s)
	w.conns[0].exchanges[1].sent = 5 * s // another one
	w.countStandstill(6*s, 7*s)
	w.countStandstill(8*s, 9*s)
	if tally.Delayed != 2+1 {
		t.Errorf("%d delayed, want 3", tally.Delayed)
	}
}

// Threads that are stopped at once stood still once; each has delayed its own requests.
func TestStandstillOfAllThreads(t *testing.T) {
	all := loadresult.NewTotals()
	for i := range int64(3) {
		one := loadresult.NewTotals()
		one.AddStandstill(2*s+i, s+i)
		one.AddStandstill(8*s, 100*ms)
		one.Delayed = 4
		all.AddTotals(&one)
	}
	want := loadresult.StandstillTotals{StoodStill: 1100*ms + 2, StoodStillMost: s + 2, StoodStillSince: 2*s + 2, Delayed: 12}
	if all.StandstillTotals != want {
		t.Errorf("%+v", all.StandstillTotals)
	}
}
