package fleet

import (
	"fmt"
	"time"

	"dyno/fleet/wire"
	"dyno/load"
)

// A member is an agent as its controller knows it.
type member struct {
	name  string
	hello wire.Hello
	index int // of its part
	part  load.Plan

	answered, ready, armed bool
	shared                 bool // it knows its other share
	refused                string
	asked                  int   // for its clock, how often
	began                  int64 // when it was last asked, by our clock
	slowest                int64 // of the answers, ns
	sounding               sounding
	offset                 offset // at the start
	drift                  drift
	off                    time.Duration // by which its wall clock was ahead

	greeted  time.Time // when its hello was heard
	heard    time.Time
	reported int64 // when it last did, by our clock
	seq      int64 // of the last report that was taken
	repeated int64 // reports that came again
	ticks    ticks
	data     []byte // of its final, of which not all has come
	final    *wire.Final
	lost     string        // why it was given up
	lostAt   time.Duration // after the start
}

func newMember(a Answerer) *member {
	return &member{name: a.Name, hello: a.Hello, greeted: a.heard, offset: unknown(),
		heard: time.Now(), off: a.Off}
}

func (m *member) weight() int { return min(max(m.hello.Weight, 1), load.MaxWeight) }

func (m *member) of(r *running) wire.Of { return wire.Of{Run: r.id, Epoch: m.hello.Epoch} }

// over reports whether the agent has said all that it measured, and done whether nothing
// more is waited for.
func (m *member) over() bool { return m.final != nil }
func (m *member) done() bool { return m.over() || m.lost != "" }

// How far a member can have come. One that is done holds up nobody; one that was lost may
// still say what it measured.
func (m *member) any() bool         { return true }
func (m *member) hasAnswered() bool { return m.answered || m.done() }
func (m *member) hasOpened() bool   { return m.ready || m.done() }
func (m *member) isKnown() bool     { return m.offset != unknown() || m.done() }
func (m *member) hasBegun() bool    { return m.ready }
func (m *member) isArmed() bool     { return m.armed || m.done() }
func (m *member) isDone() bool      { return m.done() }
func (m *member) isOver() bool      { return m.over() }

// givenUp ends the load of an agent that was.
func (m *member) givenUp(why string) *wire.Stop {
	return &wire.Stop{Why: "it was given up: " + why}
}

// lose gives the agent up, and tells it, if it hears: it must not go on with a load that
// is others' now.
func (m *member) lose(r *running, why string) {
	r.instruct(m, wire.Instruction{Verb: wire.Halt, Ends: m.givenUp(why)})
	m.lost, r.owed = why, true
	if r.armed {
		m.lostAt = max(time.Duration(r.clock.now()-r.start)-time.Duration(r.plan.Warmup), 0)
	}
	r.shown(m.index, nil)
}

// report takes the next report, and says up to which all have come. One that has come
// before, and one before which others are missing, are not taken: they will come again.
func (m *member) report(r *running, p wire.Report) {
	switch {
	case p.Seq <= m.seq:
		m.repeated++
	case p.Seq == m.seq+1:
		m.seq++
		m.reported = r.clock.now()
		m.count(r, p)
	}
	r.say(m.name, wire.Took, wire.Ack{Of: m.of(r), Seq: m.seq})
}

// count is report of one that has not come before.
func (m *member) count(r *running, p wire.Report) {
	if p.Tick != nil {
		if !sound(p.Tick) {
			m.ended(r, "a report of it does not add up")
			return
		}
		m.ticks.add(*p.Tick, r.scratch)
		if m.lost == "" {
			r.shown(m.index, p.Tick)
		}
		return
	}
	if len(m.data)+len(p.Data) > wire.BundleMax {
		m.ended(r, fmt.Sprintf("its result is longer than %d bytes", wire.BundleMax))
		return
	}
	if m.data = append(m.data, p.Data...); !p.Last {
		return
	}
	final, err := wire.OpenFinal(m.data)
	if err == nil && final.Result != nil {
		err = m.fits(final)
	}
	if err != nil {
		m.ended(r, err.Error())
		return
	}
	m.data = nil
	final.Error, final.Why = readable(final.Error), readable(final.Why)
	if final.Error != "" && r.armed { // its reports are all that there is
		m.ended(r, "its load failed: "+final.Error)
		return
	}
	m.final = final
	m.ticks.forget()
	if m.lost == "" {
		r.shown(m.index, nil)
	}
	if final.Error != "" {
		r.halt(m.name+" cannot do its part", true)
	} else if final.Why != "" && !r.stopped {
		m.ended(r, final.Why)
	}
}

// sound reports whether what an agent says of a second can be: each completed exchange has
// its latency, and each answer that was an error, which is one of those that failed.
func sound(iv *load.Interval) bool {
	wrong := int64(0)
	for _, f := range iv.Failures {
		if f.Phase == load.Expect {
			wrong += f.Count
		}
	}
	return iv.Latency.Count == iv.Completed && iv.ErrorLatency.Count == wrong &&
		wrong <= iv.Failed && iv.Latency.Finely() && iv.Service.Finely() && iv.ErrorLatency.Finely()
}

// ended is when an agent stopped by itself before it was through.
func (m *member) ended(r *running, why string) {
	if m.lost == "" {
		m.lose(r, why)
	}
	if r.on == Abort && !r.stopped {
		r.lost = true
		r.halt(m.name+" stopped: "+why, true)
	}
}

// fits checks that a result is of this member's part.
func (m *member) fits(f *wire.Final) error {
	p := f.Result.Plan
	if p.Part != m.part.Part || p.Parts != m.part.Parts || p.Connections != m.part.Connections {
		return fmt.Errorf("its result is of part %d of %d with %d connections, and not its own",
			p.Part+1, p.Parts, p.Connections)
	}
	return nil
}

// finishing is for how long an agent may report nothing, besides its longest timeout, and
// how much longer than it should it may take to say what it measured in all.
const finishing = 10 * time.Second

// overdue is why an agent is given up that is heard, and does not come to an end; "" if it
// is not. While there is load there is a report each second.
func (m *member) overdue(p load.Plan, start, now int64) string {
	window := start + int64(p.Warmup)
	end := window + int64(p.Duration)
	slow := int64(max(p.Timeout, p.Connecting)) + int64(finishing)
	silent := now - max(m.reported, window)
	seconds := func(ns int64) float64 { return time.Duration(ns).Seconds() }
	switch {
	case p.Duration == 0 || now < end:
		if silent > slow {
			return fmt.Sprintf("it beats, but has reported nothing for %.0f s", seconds(silent))
		}
	case len(m.data) > 0 && silent <= int64(finishing): // the rest of it is on its way
	case now > end+int64(p.Drain)+slow:
		return fmt.Sprintf("it beats, but has not finished %.0f s after its end", seconds(now-end))
	}
	return ""
}
