package fleet

import (
	"errors"
	"fmt"

	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// A reportState is what has come of a member's reports and of its final.
type reportState struct {
	reported   reportedSeconds
	reportedAt int64 // when the last report was accepted, by the controller's clock
	lastSeq    int64 // number of that report
	repeated   int64 // reports that came more than once

	finalData    []byte // pieces of a part of the final that is not complete yet
	finalBegun   bool   // the first piece of the final has come
	finalBegunAt int64  // when it did, by the controller's clock
	final        *wire.Final
	result       *result.Result // of the final, once it was checked
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

// receiveFinalPiece appends a piece to the current part of the agent's final, and reads the part
// when it is complete.
func (m *member) receiveFinalPiece(r *fleetRun, p wire.Report) {
	if !m.finalBegun {
		m.finalBegun, m.finalBegunAt = true, r.clock.currentReading()
	}
	switch n := len(p.Data); {
	case n == 0 || n > wire.FinalPieceMax || n < wire.FinalPieceMax && !p.Last:
		m.rejectFinal(r, fmt.Sprintf("a piece of its result has %d bytes; all but the last of "+
			"a part have %d", n, wire.FinalPieceMax))
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

// receiveFinal keeps the last part of an agent's final, which ends its load.
func (m *member) receiveFinal(r *fleetRun, final *wire.Final) {
	final.Error, final.Why = wire.Readable(final.Error), wire.Readable(final.Why)
	if final.Error != "" && r.armed { // its reports are all that is known
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
