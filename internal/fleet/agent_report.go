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
func (s *agentService) buildFinal(r *loadresult.Result, err error) wire.Final {
	if err != nil {
		return wire.Final{Error: err.Error()}
	}
	return wire.Final{Result: r, Start: s.clock.readingAt(r.Started), Threads: r.Plan.Threads}
}

// loadHere makes a load in this process, for tests.
func (s *agentService) loadHere(ctx context.Context, p loadplan.Plan, meet load.Barrier,
	shares <-chan load.Share, each func(loadresult.Interval)) (*loadresult.Result, error) {
	r, err := load.RunShared(ctx, p, meet, shares, each)
	if err != nil {
		return nil, err
	}
	return remote.Describe(r), nil
}

// reportFinal reports the final in pieces. It is packed outside the loop, which has to send
// heartbeats meanwhile.
func (s *agentService) reportFinal(j *job, f wire.Final) {
	s.callInLoopAndWait(func() {
		j.stage, f.Why = stagePackingFinal, j.stopReason
		if j.stopReason == "" && f.Result != nil && f.Result.Ended == loadresult.Interrupted {
			f.Why = "its policy allows no longer runs"
		}
	})
	pieces := wire.SplitPieces(f.Pack(), wire.FinalPieceMax)
	s.callInLoopAndWait(func() {
		if s.job == j { // else the controller is silent for too long, or the agent ends
			for i, data := range pieces {
				s.queueReport(j, wire.Report{RunRef: j.runRef(s), Data: data, Last: i == len(pieces)-1})
			}
		}
		j.stage = stageFinished
		j.cancel(nil)
		s.logLine("run %s: over", j.Run)
	})
}
