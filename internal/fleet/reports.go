package fleet

import (
	"errors"
	"fmt"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// A reportState is what has come of a member's reports and of its final.
type reportState struct {
	reportedAt int64 // when the last report was accepted, by the controller's clock
	lastSeq    int64 // number of that report
	repeated   int64 // reports that came more than once

	finalData    []byte // pieces of the final, which is not complete yet
	finalBegun   bool   // the first piece of the final has come
	finalBegunAt int64  // when it did, by the controller's clock
	final        *wire.Final
	counted      *loadresult.Result // of the final, once it was checked
	result       *result.Result     // likewise, converted
}

// receiveReport accepts the next report and acknowledges all up to the last accepted one. A
// report that was accepted before, or before which others are missing, is dropped: the agent
// sends it again. An accepted report does not count as flooding, because there is one a second.
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

// receiveSecond adds a second, or a piece of the final, that comes for the first time.
func (m *member) receiveSecond(r *fleetRun, p wire.Report) {
	if p.Tick == nil {
		m.receiveFinalPiece(r, p)
		return
	}
	err := errors.New("the load has not begun")
	if r.armed {
		err = checkSecond(r.together.Tally(m.index), p.Tick, r.currentMax())
	}
	if err != nil {
		m.rejectReport(r, "a report of it does not add up: "+err.Error())
		return
	}
	p.Tick.Measure()
	r.together.Add(m.index, *p.Tick)
}

// receiveFinalPiece appends a piece to the agent's final, and reads it when it is complete.
func (m *member) receiveFinalPiece(r *fleetRun, p wire.Report) {
	if !m.finalBegun {
		m.finalBegun, m.finalBegunAt = true, r.clock.currentReading()
	}
	switch n := len(p.Data); {
	case n == 0 || n > wire.FinalPieceMax || n < wire.FinalPieceMax && !p.Last:
		m.rejectFinal(r, fmt.Sprintf("a piece of its result has %d bytes; all but the last have %d", n,
			wire.FinalPieceMax))
		return
	case len(m.finalData)+n > wire.FinalMax:
		m.rejectFinal(r, fmt.Sprintf("its result is longer than %d bytes", wire.FinalMax))
		return
	}
	if m.finalData = append(m.finalData, p.Data...); !p.Last {
		return
	}
	final, err := wire.ParseFinal(m.finalData)
	if m.finalData = nil; err != nil {
		m.rejectFinal(r, err.Error())
		return
	}
	m.receiveFinal(r, final)
}

// receiveFinal keeps an agent's final, which ends its load.
func (m *member) receiveFinal(r *fleetRun, final *wire.Final) {
	final.Error, final.Why = wire.Readable(final.Error), wire.Readable(final.Why)
	if final.Error != "" && r.armed { // its reports are all that is known
		m.endEarly(r, "its load failed: "+final.Error)
		return
	}
	m.final = final
	r.together.End(m.index)
	if final.Error != "" {
		r.stopMembers(m.name+" cannot do its part", true)
	} else if final.Why != "" && !r.stopped {
		m.endEarly(r, final.Why)
	}
}
