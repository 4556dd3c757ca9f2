package fleet

import (
	"context"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// publishReports says reports.
func (s *agentService) publishReports(texts [][]byte) {
	for _, text := range texts {
		s.Conn.Publish(wire.EventSubject(s.Name, wire.Reported), text)
	}
}

// queueReport keeps a report until it is acknowledged, and says it.
func (s *agentService) queueReport(j *job, r wire.Report) {
	j.spool.addReport(r)
	s.publishReports(j.spool.dueReports(time.Now()))
	if j.spool.isFull() && s.job == j {
		s.stopJob("its reports are not acknowledged", context.Canceled)
	}
}

// buildFinal is all that a load measured, or why it did not.
func (s *agentService) buildFinal(r *load.Result, err error) wire.Final {
	if err != nil {
		return wire.Final{Error: err.Error()}
	}
	r.Failures = fewerFailures(r.Failures)
	if r.Probe != nil {
		r.Probe.Failures = fewerFailures(r.Probe.Failures)
	}
	out, err := result.From(r, s.dynoVersion())
	if err != nil {
		return wire.Final{Error: err.Error()}
	}
	return wire.Final{Result: out, Start: s.clock.readingAt(r.Started), Late: int64(r.StartLate)}
}

// reportFinal reports the whole of what was measured. It is called beside the loop: to pack the
// seconds of days takes longer than a controller waits for a beat, and the loop says those
// meanwhile.
func (s *agentService) reportFinal(j *job, f wire.Final) {
	s.callInLoopAndWait(func() {
		j.stage, f.Why = stagePackingFinal, j.stopReason
		if j.stopReason == "" && f.Result != nil && f.Result.Ended == string(load.Interrupted) {
			f.Why = "its policy allows no longer runs"
		}
	})
	for part := range f.PackParts() {
		wanted := false
		s.callInLoopAndWait(func() {
			if wanted = s.job == j; wanted {
				s.reportFinalPart(j, part)
			}
		})
		if !wanted { // by a controller that was not heard for long, or the agent is over
			break
		}
	}
	s.callInLoopAndWait(func() {
		j.stage = stageFinished
		j.cancel(nil)
		s.logLine("run %s: over", j.Run)
	})
}

// reportFinalPart reports a part of what was measured.
func (s *agentService) reportFinalPart(j *job, part []byte) {
	pieces := wire.SplitPieces(part, wire.FinalPieceMax)
	for i, data := range pieces {
		s.queueReport(j, wire.Report{RunRef: j.runRef(s), Data: data, Last: i == len(pieces)-1})
	}
}
