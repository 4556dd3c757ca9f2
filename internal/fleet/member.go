package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
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
	data     []byte // of a part of its final, of which not all has come
	rest     bool   // of its final is on its way
	restAt   int64  // since then, by our clock
	final    *wire.Final
	own      *result.Result // its final's, once it is believed
	lost     string         // why it was given up
	lostAt   time.Duration  // after the start

	sub        *nats.Subscription // to what it says; nil: there is none
	budget     budget
	distrusted bool // something that it said cannot be
}

func newMember(a Answerer) *member {
	return &member{name: a.Name, hello: a.Hello, greeted: a.heard, offset: unknown(),
		heard: time.Now(), off: a.Off}
}

func (m *member) weight() int { return min(max(m.hello.Weight, 1), load.MaxWeight) }

func (m *member) of(r *running) wire.RunRef { return wire.RunRef{Run: r.id, Epoch: m.hello.Epoch} }

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
func (m *member) isOver() bool      { return m.over() || m.distrusted }

// givenUp ends the load of an agent that was.
func (m *member) givenUp(why string) *wire.Stop {
	return &wire.Stop{Why: "it was given up: " + why}
}

// lose gives the agent up, and tells it, if it hears: it must not go on with a load that
// is others' now.
func (m *member) lose(r *running, why string) {
	r.instruct(m, wire.Instruction{Verb: wire.StopLoad, Stop: m.givenUp(why)})
	r.owed = true
	m.gone(r, why)
	r.shown(m.index, nil)
}

// gone notes that the agent is lost, and when.
func (m *member) gone(r *running, why string) {
	m.lost = why
	if r.armed {
		m.lostAt = max(time.Duration(r.clock.now()-r.start)-time.Duration(r.plan.Warmup), 0)
	}
}

// report takes the next report, and says up to which all have come. One that has come
// before, and one before which others are missing, are not taken: they will come again. What
// is taken is no flood, for there is one of each second.
func (m *member) report(r *running, p wire.Report, bytes int) {
	switch {
	case p.Seq <= m.seq:
		m.repeated++
	case p.Seq == m.seq+1:
		m.seq++
		m.budget.give(bytes)
		m.reported = r.clock.now()
		m.count(r, p)
	}
	r.say(m.name, wire.Acknowledge, wire.Ack{RunRef: m.of(r), Seq: m.seq})
}

// count is report of one that has not come before.
func (m *member) count(r *running, p wire.Report) {
	if p.Tick == nil {
		m.piece(r, p)
		return
	}
	err := errors.New("the load has not begun")
	if r.armed {
		err = m.ticks.sound(p.Tick, r.most())
	}
	if err == nil {
		p.Tick.Measure()
		m.ticks.add(*p.Tick, r.scratch)
	}
	if err != nil {
		m.unbelieved(r, "a report of it does not add up: "+err.Error())
	} else if m.lost == "" {
		r.shown(m.index, p.Tick)
	}
}

// piece is count of what belongs to the agent's final.
func (m *member) piece(r *running, p wire.Report) {
	if !m.rest {
		m.rest, m.restAt = true, r.clock.now()
	}
	switch n := len(p.Data); {
	case n == 0 || n > wire.FinalPieceMax || n < wire.FinalPieceMax && !p.Last:
		m.misjudged(r, fmt.Sprintf("a piece of its result has %d bytes; all but the last of a part have "+
			"%d", n, wire.FinalPieceMax))
		return
	case len(m.data)+n > wire.PartMax:
		m.misjudged(r, fmt.Sprintf("a part of its result is longer than %d bytes", wire.PartMax))
		return
	}
	if m.data = append(m.data, p.Data...); !p.Last {
		return
	}
	part, err := wire.ParseFinalPart(m.data)
	m.data = nil
	if err == nil {
		err = m.ticks.match(part.Series)
	}
	switch {
	case err != nil:
	case part.More && m.ticks.missing() > 0 && !part.IsFull():
		err = fmt.Errorf("a part of its result has %d seconds only, and others follow", len(part.Series))
	case !part.More && part.Result != nil && m.ticks.missing() > 0:
		err = fmt.Errorf("parts of its result are missing: they have %d of the %d seconds that it has "+
			"reported", m.ticks.matched, m.ticks.taken)
	}
	switch {
	case err != nil:
		m.misjudged(r, err.Error())
	case !part.More:
		m.finish(r, part)
	}
}

// finish takes an agent's last word.
func (m *member) finish(r *running, final *wire.Final) {
	final.Error, final.Why = wire.Readable(final.Error), wire.Readable(final.Why)
	if final.Error != "" && r.armed { // its reports are all that there is
		m.ended(r, "its load failed: "+final.Error)
		return
	}
	m.final = final
	if m.lost == "" {
		r.shown(m.index, nil)
	}
	if final.Error != "" {
		r.halt(m.name+" cannot do its part", true)
	} else if final.Why != "" && !r.stopped {
		m.ended(r, final.Why)
	}
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

// unbelieved is when something that an agent says cannot be.
func (m *member) unbelieved(r *running, why string) {
	m.distrust(r, why)
	if r.armed {
		m.ended(r, why)
	} else if !r.stopped {
		r.halt(m.name+" was lost before the start: "+why, true)
	}
}

// misjudged is unbelieved of one whose final cannot be. Its load is over, by its own word: if that
// was not before it should be, the load of the others goes on as it is.
func (m *member) misjudged(r *running, why string) {
	end := r.start + int64(r.plan.Warmup+r.plan.Duration)
	if !r.armed || r.plan.Duration > 0 && r.clock.now() < end {
		m.unbelieved(r, why)
		return
	}
	m.distrust(r, why)
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
		if telling := now - m.restAt; m.rest && telling > slow+m.tellTime() {
			return fmt.Sprintf("it beats, but has not told in %.0f s what it measured", seconds(telling))
		}
	case m.rest && silent <= int64(finishing) && now <= end+int64(p.Drain)+slow+m.tellTime():
		// the rest of it is on its way
	case now > end+int64(p.Drain)+slow:
		return fmt.Sprintf("it beats, but has not finished %.0f s after its end", seconds(now-end))
	}
	return ""
}

// tellEach is how long an agent may take to tell of a second that it has measured, in its final.
// That is a hundredth of the time that it took, and enough for some hundred bytes on a slow line:
// 100 kbit/s.
const tellEach = 10 * time.Millisecond

// tellTime is how long its final may take, in ns.
func (m *member) tellTime() int64 { return int64(finishing) + m.ticks.taken*int64(tellEach) }
