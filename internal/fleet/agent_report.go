package fleet

import (
	"context"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fleet/wire"
	"dyno/internal/remote"
)

// publishReports sends encoded reports.
func (s *agentService) publishReports(texts [][]byte) {
	for _, text := range texts {
		s.Conn.Publish(wire.EventSubject(s.Name, wire.Reported), text)
	}
}

// queueReport sends a report and keeps it until it is acknowledged.
func (s *agentService) queueReport(j *job, r wire.Report) {
	j.spool.addReport(r)
	s.publishReports(j.spool.dueReports(time.Now()))
	if j.spool.isFull() && s.job == j {
		s.stopJob("its reports are not acknowledged", context.Canceled)
	}
}

// buildFinal returns the final of a load, or of its failure.
func (s *agentService) buildFinal(r remote.Loaded, err error) wire.Final {
	if err != nil {
		return wire.Final{Error: err.Error()}
	}
	return wire.Final{Result: r.Result, Start: s.clock.readingAt(r.Started), Late: int64(r.Late)}
}

// loadHere makes a load in this process, for tests.
func (s *agentService) loadHere(ctx context.Context, p loadplan.Plan, meet load.Barrier,
	shares <-chan load.Share, each func(loadresult.Interval)) (l remote.Loaded, err error) {
	r, err := load.RunShared(ctx, p, meet, shares, each)
	if err != nil {
		return l, err
	}
	return remote.Describe(r, s.dynoVersion())
}

// reportFinal reports the final. It is called outside the loop: packing the seconds of days takes
// longer than Lease, and the loop has to send heartbeats meanwhile.
func (s *agentService) reportFinal(j *job, f wire.Final) {
	s.callInLoopAndWait(func() {
		j.stage, f.Why = stagePackingFinal, j.stopReason
		if j.stopReason == "" && f.Result != nil && f.Result.Ended == string(loadresult.Interrupted) {
			f.Why = "its policy allows no longer runs"
		}
	})
	var packed []byte // a part that is not reported yet
	for part := range f.PackParts() {
		wanted := packed == nil
		if !wanted {
			s.callInLoopAndWait(func() {
				if wanted = s.job == j; wanted {
					s.reportFinalPart(j, packed)
				}
			})
		}
		if !wanted { // the controller is silent for too long, or the agent ends
			break
		}
		packed = part
	}
	s.callInLoopAndWait(func() {
		if s.job == j { // the last part: once it is acknowledged, the agent is free at once
			s.reportFinalPart(j, packed)
		}
		j.stage = stageFinished
		j.cancel(nil)
		s.logLine("run %s: over", j.Run)
	})
}

// reportFinalPart reports a part of the final in pieces.
func (s *agentService) reportFinalPart(j *job, part []byte) {
	pieces := wire.SplitPieces(part, wire.FinalPieceMax)
	for i, data := range pieces {
		s.queueReport(j, wire.Report{RunRef: j.runRef(s), Data: data, Last: i == len(pieces)-1})
	}
}
