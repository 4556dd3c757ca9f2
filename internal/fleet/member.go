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

	answered, connected, armed bool
	resharded                  bool // it knows its other share
	refused                    string
	clockQueries               int   // for its clock, how often
	clockQueriedAt             int64 // when it was last asked, by our clock
	slowestAnswer              int64 // of the answers, ns
	clockSync                  clockSyncing
	offset                     clockOffset // at the start
	drift                      clockDrift
	wallAhead                  time.Duration // by which its wall clock was ahead

	helloAt      time.Time // when its hello was heard
	heardAt      time.Time
	reportedAt   int64 // when it last did, by our clock
	lastSeq      int64 // of the last report that was taken
	repeated     int64 // reports that came again
	reported     reportedSeconds
	finalData    []byte // of a part of its final, of which not all has come
	finalBegun   bool   // of its final is on its way
	finalBegunAt int64  // since then, by our clock
	final        *wire.Final
	result       *result.Result // its final's, once it is believed
	lost         string         // why it was given up
	lostAt       time.Duration  // after the start

	sub        *nats.Subscription // to what it says; nil: there is none
	budget     budget
	distrusted bool // something that it said cannot be
}

func newMember(a FoundAgent) *member {
	return &member{name: a.Name, hello: a.Hello, helloAt: a.heardAt, offset: unknownOffset(),
		heardAt: time.Now(), wallAhead: a.ClockAhead}
}

func (m *member) splitWeight() int { return min(max(m.hello.Weight, 1), load.MaxWeight) }

func (m *member) runRef(r *fleetRun) wire.RunRef { return wire.RunRef{Run: r.id, Epoch: m.hello.Epoch} }

// hasFinal reports whether the agent has said all that it measured, and done whether nothing
// more is waited for.
func (m *member) hasFinal() bool { return m.final != nil }
func (m *member) isDone() bool   { return m.hasFinal() || m.lost != "" }

// How far a member can have come. One that is done holds up nobody; one that was lost may
// still say what it measured.
func (m *member) isMember() bool       { return true }
func (m *member) hasAnswered() bool    { return m.answered || m.isDone() }
func (m *member) hasConnected() bool   { return m.connected || m.isDone() }
func (m *member) hasKnownClock() bool  { return m.offset != unknownOffset() || m.isDone() }
func (m *member) isConnected() bool    { return m.connected }
func (m *member) isArmed() bool        { return m.armed || m.isDone() }
func (m *member) hasEnded() bool       { return m.isDone() }
func (m *member) hasReportedAll() bool { return m.hasFinal() || m.distrusted }

// lossStop ends the load of an agent that was.
func (m *member) lossStop(why string) *wire.Stop {
	return &wire.Stop{Why: "it was given up: " + why}
}

// giveUp gives the agent up, and tells it, if it hears: it must not go on with a load that
// is others' now.
func (m *member) giveUp(r *fleetRun, why string) {
	r.instructMember(m, wire.Instruction{Verb: wire.StopLoad, Stop: m.lossStop(why)})
	r.rebalanceDue = true
	m.markLost(r, why)
	r.mergeInterval(m.index, nil)
}

// markLost notes that the agent is lost, and when.
func (m *member) markLost(r *fleetRun, why string) {
	m.lost = why
	if r.armed {
		m.lostAt = max(time.Duration(r.clock.currentReading()-r.start)-time.Duration(r.plan.Warmup), 0)
	}
}

// receiveReport takes the next report, and says up to which all have come. One that has come
// before, and one before which others are missing, are not taken: they will come again. What
// is taken is no flood, for there is one of each second.
func (m *member) receiveReport(r *fleetRun, p wire.Report, bytes int) {
	switch {
	case p.Seq <= m.lastSeq:
		m.repeated++
	case p.Seq == m.lastSeq+1:
		m.lastSeq++
		m.budget.refundBytes(bytes)
		m.reportedAt = r.clock.currentReading()
		m.receiveSecond(r, p)
	}
	r.publishCommand(m.name, wire.Acknowledge, wire.Ack{RunRef: m.runRef(r), Seq: m.lastSeq})
}

// receiveSecond is report of one that has not come before.
func (m *member) receiveSecond(r *fleetRun, p wire.Report) {
	if p.Tick == nil {
		m.receiveFinalPiece(r, p)
		return
	}
	err := errors.New("the load has not begun")
	if r.armed {
		err = m.reported.checkSecond(p.Tick, r.currentMax())
	}
	if err == nil {
		p.Tick.Measure()
		m.reported.addSecond(*p.Tick, r.scratch)
	}
	if err != nil {
		m.rejectReport(r, "a report of it does not add up: "+err.Error())
	} else if m.lost == "" {
		r.mergeInterval(m.index, p.Tick)
	}
}

// receiveFinalPiece is count of what belongs to the agent's final.
func (m *member) receiveFinalPiece(r *fleetRun, p wire.Report) {
	if !m.finalBegun {
		m.finalBegun, m.finalBegunAt = true, r.clock.currentReading()
	}
	switch n := len(p.Data); {
	case n == 0 || n > wire.FinalPieceMax || n < wire.FinalPieceMax && !p.Last:
		m.rejectFinal(r, fmt.Sprintf("a piece of its result has %d bytes; all but the last of a part have "+
			"%d", n, wire.FinalPieceMax))
		return
	case len(m.finalData)+n > wire.PartMax:
		m.rejectFinal(r, fmt.Sprintf("a part of its result is longer than %d bytes", wire.PartMax))
		return
	}
	if m.finalData = append(m.finalData, p.Data...); !p.Last {
		return
	}
	part, err := wire.ParseFinalPart(m.finalData)
	m.finalData = nil
	if err == nil {
		err = m.reported.matchSeries(part.Series)
	}
	switch {
	case err != nil:
	case part.More && m.reported.unmatchedSeconds() > 0 && !part.IsFull():
		err = fmt.Errorf("a part of its result has %d seconds only, and others follow", len(part.Series))
	case !part.More && part.Result != nil && m.reported.unmatchedSeconds() > 0:
		err = fmt.Errorf("parts of its result are missing: they have %d of the %d seconds that it has "+
			"reported", m.reported.matched, m.reported.received)
	}
	switch {
	case err != nil:
		m.rejectFinal(r, err.Error())
	case !part.More:
		m.receiveFinal(r, part)
	}
}

// receiveFinal takes an agent's last word.
func (m *member) receiveFinal(r *fleetRun, final *wire.Final) {
	final.Error, final.Why = wire.Readable(final.Error), wire.Readable(final.Why)
	if final.Error != "" && r.armed { // its reports are all that there is
		m.endEarly(r, "its load failed: "+final.Error)
		return
	}
	m.final = final
	if m.lost == "" {
		r.mergeInterval(m.index, nil)
	}
	if final.Error != "" {
		r.stopMembers(m.name+" cannot do its part", true)
	} else if final.Why != "" && !r.stopped {
		m.endEarly(r, final.Why)
	}
}

// endEarly is when an agent stopped by itself before it was through.
func (m *member) endEarly(r *fleetRun, why string) {
	if m.lost == "" {
		m.giveUp(r, why)
	}
	if r.onLoss == Abort && !r.stopped {
		r.endedByLoss = true
		r.stopMembers(m.name+" stopped: "+why, true)
	}
}

// rejectReport is when something that an agent says cannot be.
func (m *member) rejectReport(r *fleetRun, why string) {
	m.distrustMember(r, why)
	if r.armed {
		m.endEarly(r, why)
	} else if !r.stopped {
		r.stopMembers(m.name+" was lost before the start: "+why, true)
	}
}

// rejectFinal is unbelieved of one whose final cannot be. Its load is over, by its own word: if that
// was not before it should be, the load of the others goes on as it is.
func (m *member) rejectFinal(r *fleetRun, why string) {
	end := r.start + int64(r.plan.Warmup+r.plan.Duration)
	if !r.armed || r.plan.Duration > 0 && r.clock.currentReading() < end {
		m.rejectReport(r, why)
		return
	}
	m.distrustMember(r, why)
}

// finalSlack is for how long an agent may report nothing, besides its longest timeout, and
// how much longer than it should it may take to say what it measured in all.
const finalSlack = 10 * time.Second

// whyOverdue is why an agent is given up that is heard, and does not come to an end; "" if it
// is not. While there is load there is a report each second.
func (m *member) whyOverdue(p load.Plan, start, now int64) string {
	window := start + int64(p.Warmup)
	end := window + int64(p.Duration)
	slow := int64(max(p.Timeout, p.Connecting)) + int64(finalSlack)
	silent := now - max(m.reportedAt, window)
	seconds := func(ns int64) float64 { return time.Duration(ns).Seconds() }
	switch {
	case p.Duration == 0 || now < end:
		if silent > slow {
			return fmt.Sprintf("it beats, but has reported nothing for %.0f s", seconds(silent))
		}
		if telling := now - m.finalBegunAt; m.finalBegun && telling > slow+m.finalTimeout() {
			return fmt.Sprintf("it beats, but has not told in %.0f s what it measured", seconds(telling))
		}
	case m.finalBegun && silent <= int64(finalSlack) && now <= end+int64(p.Drain)+slow+m.finalTimeout():
		// the rest of it is on its way
	case now > end+int64(p.Drain)+slow:
		return fmt.Sprintf("it beats, but has not finished %.0f s after its end", seconds(now-end))
	}
	return ""
}

// finalTimePerSecond is how long an agent may take to tell of a second that it has measured, in its final.
// That is a hundredth of the time that it took, and enough for some hundred bytes on a slow line:
// 100 kbit/s.
const finalTimePerSecond = 10 * time.Millisecond

// finalTimeout is how long its final may take, in ns.
func (m *member) finalTimeout() int64 {
	return int64(finalSlack) + m.reported.received*int64(finalTimePerSecond)
}
