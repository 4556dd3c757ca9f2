// Package grade says what a single trial is worth: A, B or F, with the reasons, and what can be
// done about them in the experiment's file.
//
//	generator.go    how often the generator was doubted in a group of trials, and why
//	grade.go        the grade of a trial, with reasons
//	miscount.go     server and generator count differently
//	mser.go         how much of a window is warm-up (judged in lab/trial.go)
//	remedy.go       what to do about a reason
package grade

import (
	"math"
	"slices"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/setting"
	"dyno/internal/stats"
)

// Limits of the grades. If the literature has none, they are those above which A/A arms on virtual
// machines began to differ.
const (
	stealFlag, stealFail     = 0.01, 0.05 // share of the machine's time that its host took
	foreignFlag, foreignFail = 0.05, 0.25 // of the machine's CPUs, used by other programs
	quotaFlag, quotaFail     = 0, 0.05    // share of the CPUs' time that the cgroup's quota withheld
	memoryFlag, memoryFail   = 0.01, 0.10 // share of the time in which a task waited for free memory
	unavailableFlag          = 0.001      // of a closed loop's load; result.Applied says when it fails
	sentFail                 = 0.99       // of an open loop's requests; Nighthawk's idea
	wireFail                 = 0.01       // by which an answer's size may differ from the check
	wireLeast                = 1000       // requests that are needed for a mean size
)

// reason is why a trial is not of grade A.
func reason(g lab.Grade, args fact.Args, remedies ...fact.Remedy) lab.Reason {
	f := fact.Fact{Severity: fact.Warning, Args: args, Remedies: remedies}
	if g == lab.GradeF {
		f.Severity = fact.Error
	}
	return lab.Reason{Grade: g, Says: say.Text(f, setting.Key), Fact: &f}
}

// Of returns the worst grade of all reasons against a trial, with the reasons.
func Of(t *lab.Trial) (lab.Grade, []lab.Reason) {
	var all []lab.Reason
	for _, look := range []func(*lab.Trial) []lab.Reason{
		failureReasons, machineReasons, scarcityReasons, generatorDoubts, appliedReasons,
		connectionReasons, answerReasons, miscountReasons, lateReasons,
		steadinessReasons, stopReasons,
	} {
		all = append(all, look(t)...)
	}
	worst := lab.GradeA
	for _, r := range all {
		worst = max(worst, r.Grade) // "A" < "B" < "F"
	}
	return worst, all
}

func failureReasons(t *lab.Trial) []lab.Reason {
	if t.Failure == nil {
		return nil
	}
	// A search that the generator ended may come further when nothing holds the generator up.
	why := reason(lab.GradeF, fact.TrialFailed{Phase: t.Failure.Phase, Why: t.Failure.Reason})
	why.Passing = t.Search != nil && t.Search.End == lab.ClientBound
	return []lab.Reason{why}
}

// machineReasons finds other load on the machine.
func machineReasons(t *lab.Trial) (all []lab.Reason) {
	if t.Result == nil || t.Result.Server == nil {
		return nil
	}
	host := &t.Result.Server.Host
	wall := host.WallS * 1e9 * float64(max(host.CPUs, 1))
	for _, lost := range []struct {
		N  probe.Value
		Of fact.Event
	}{
		{host.ListenOverflow, fact.QueueFull}, {host.SoftnetDrops, fact.PacketDropped},
		{host.Retransmits, fact.SegmentResent},
	} {
		if lost.N > 0 { // NaN is not
			all = append(all, reason(lab.GradeB, fact.MachineEvent{Of: lost.Of, Count: int64(lost.N)}))
		}
	}
	all = append(all, shareReasons(float64(host.Steal)/100, stealFlag, stealFail,
		fact.MachineShare{By: fact.ByHost})...)
	if len(t.ServerProcesses()) == 0 {
		return all // on another machine nobody knows what belongs to the server
	}
	// Some kernels assign interrupts to no process, so Foreign may contain their time. Without it the
	// share is what other programs used at least.
	interrupts := 0.0
	for _, v := range []probe.Value{host.SoftIRQ, host.IRQ} {
		if v.OK() {
			interrupts += float64(v) / 100
		}
	}
	return append(all, shareReasons(float64(host.Foreign)/wall-interrupts, foreignFlag, foreignFail,
		fact.MachineShare{By: fact.ByOthers})...)
}

// shareReasons returns a reason if a share of the machine is above a limit; one that is not known,
// because no time was measured, is above none.
func shareReasons(share, flag, fail float64, args fact.MachineShare) []lab.Reason {
	if !(share > flag) || math.IsInf(share, 1) {
		return nil
	}
	g := lab.GradeF
	if share <= fail {
		g = lab.GradeB
	}
	args.Percent = 100 * share
	why := reason(g, args)
	why.Passing = true
	return []lab.Reason{why}
}

// scarcityReasons finds what the machine, or our cgroup, withheld. It ignores that tasks wait for a
// CPU (PSI), because those of a fully loaded server always do. It also ignores waits for storage,
// because some virtual machines report 96 % of the time when idle.
func scarcityReasons(t *lab.Trial) (all []lab.Reason) {
	if t.Result == nil || t.Result.Server == nil {
		return nil
	}
	host := &t.Result.Server.Host
	cpus := host.CPUs
	if t.Result.Fleet == nil { // Host is this machine, and has the CPUs that dyno may use
		cpus = t.Result.Host.CPUs
	}
	usable := host.WallS * 1e9 * float64(max(cpus, 1))
	quota := fact.MachineShare{By: fact.ByQuota}
	if host.Throttlings > 0 {
		quota.Periods = int64(host.Throttlings)
	}
	all = shareReasons(float64(host.Throttled)/usable, quotaFlag, quotaFail, quota)
	all = append(all, shareReasons(float64(host.PressureMemory)/100, memoryFlag, memoryFail,
		fact.MachineShare{By: fact.ByMemory})...)
	if host.TooHot > 0 {
		why := reason(lab.GradeB, fact.MachineEvent{Of: fact.SlowedByHeat, Count: int64(host.TooHot)})
		why.Passing = true
		all = append(all, why)
	}
	return all
}

// generatorDoubts are the doubts of the generator's self-check. A generator at its limit spoils
// throughput and latency, which comparisons report themselves, but not the server's CPU time. So it
// does not cause an F.
func generatorDoubts(t *lab.Trial) (all []lab.Reason) {
	if t.Result == nil {
		return nil
	}
	facts := t.Result.ReasonFacts()
	for i, why := range GeneratorReasons(t) {
		reason := lab.Reason{Grade: lab.GradeB, Says: "generator: " + why}
		if facts != nil {
			reason.Fact = &facts[i]
		}
		all = append(all, reason)
	}
	return all
}

// failedChecks are the checks that answers did not pass.
func failedChecks(r *result.Result) (all []fact.CheckFailed) {
	for _, c := range r.Checks {
		if c.Failed > 0 {
			all = append(all, fact.CheckFailed{Name: c.Name, Count: c.Failed})
		}
	}
	return all
}

// answerReasons finds answers that were not the expected ones.
func answerReasons(t *lab.Trial) (all []lab.Reason) {
	if t.Result == nil {
		return nil
	}
	q := t.Result.Requests
	if lost := q.Errors + q.Unfinished; lost > 0 {
		g := lab.GradeF
		if q.Errors == 0 && float64(lost) < 0.001*float64(q.Sent) {
			g = lab.GradeB
		}
		all = append(all, ofServer(reason(g, fact.AnswersLacking{Failed: q.Errors, Sent: q.Sent,
			Unanswered: q.Unfinished, Checks: failedChecks(t.Result)})))
	}
	for _, e := range t.Result.Errors {
		if loadresult.IsRefusal(loadresult.Phase(e.Phase), e.Kind, e.Address) {
			all = append(all, reason(lab.GradeF, fact.RequestsRefused{Count: e.Count, Why: e.Detail},
				e.Remedies...))
		}
	}
	all = append(all, sizeReasons(t)...)
	for _, c := range t.Changed {
		all = append(all, ofServer(reason(lab.GradeF, fact.AnswerChanged{Aspect: c.Aspect,
			Before: c.Before, After: c.After})))
	}
	return all
}

// ofServer is a reason that lies in the server.
func ofServer(why lab.Reason) lab.Reason {
	why.Server = true
	return why
}

// sizeReasons finds answers of another size than the one that was checked. Of requests in flight at
// the window's start, some bytes came before it; of those at its end, bytes are counted without
// their answer. Results before WarmupInWindow have bytes without answers at both edges. Where
// redirects are followed, the answer that was checked is only the first.
func sizeReasons(t *lab.Trial) []lab.Reason {
	n, received := t.CountInWindow()
	if n < wireLeast || t.Wire <= 0 || t.Result.Plan.Follow > 0 {
		return nil
	}
	p := t.Result.Plan
	checked, edge := float64(n)*t.Wire, float64(p.Connections*p.Depth())*t.Wire
	if r := float64(received); r >= (1-wireFail)*checked-edge && r <= (1+wireFail)*checked+2*edge {
		return nil
	}
	return []lab.Reason{ofServer(reason(lab.GradeF, fact.SizeDiffers{
		Bytes: float64(received) / float64(n), Checked: t.Wire}))}
}

// lateReasons finds an open workload whose requests were not sent when due.
func lateReasons(t *lab.Trial) []lab.Reason {
	if t.Result == nil {
		return nil
	}
	share, ok := t.Result.InTime()
	if !ok || share >= sentFail {
		return nil
	}
	args := fact.SentInTime{Percent: 100 * share, Iterations: t.Result.Plan.CountsIterations(),
		OwnDelay: t.Result.OwnDelay(), Shortage: t.Result.Shortage()}
	why := reason(lab.GradeF, args)
	why.Server = !args.OwnDelay && !hadNoRoom(t.Result) &&
		(args.Of == fact.OfConnections || args.Of == fact.OfServer) // users may have been thinking
	return []lab.Reason{why}
}

func steadinessReasons(t *lab.Trial) (all []lab.Reason) {
	doubt := func(args fact.Args) { all = append(all, reason(lab.GradeB, args)) }
	if w := t.Warmup; w != nil && w.Steady == lab.No {
		doubt(fact.NotSteady{WarmupS: w.TookS, Varied: 100 * w.CoV})
	}
	if t.Steadiness == stats.Slowdown || t.Steadiness == stats.Unsteady {
		doubt(fact.SecondsShow{What: string(t.Steadiness)})
	}
	if c := t.Transient; c.IsCold() {
		doubt(fact.ColdWindow{CutS: c.CutS, Higher: 100 * c.Change})
	}
	return all
}

// appliedReasons finds a closed workload whose server was gone or silent for a part of the window.
// The rest of the window does not cover that time.
func appliedReasons(t *lab.Trial) []lab.Reason {
	if t.Result == nil || t.Result.Unavailable() <= unavailableFlag {
		return nil
	}
	g := lab.GradeB
	if !t.Result.Applied() {
		g = lab.GradeF
	}
	why := reason(g, fact.LoadLacking{Percent: 100 * t.Result.Unavailable()})
	why.Server = !hadNoRoom(t.Result)
	return []lab.Reason{why}
}

// connectionReasons finds a load on fewer connections than it asked for.
func connectionReasons(t *lab.Trial) []lab.Reason {
	if t.Result == nil {
		return nil
	}
	missing, unopened := t.Result.Unused()
	if missing == 0 {
		return nil
	}
	asked := int64(t.Result.Connections.Asked)
	why := reason(lab.GradeF, fact.ConnectionsLacking{Missing: missing, Of: asked, Unopened: unopened})
	why.Server, why.Starved, why.Asked = !hadNoRoom(t.Result), missing, asked
	return []lab.Reason{why}
}

// hadNoRoom reports whether the generator itself could not open connections: it had no file
// descriptor or no local port left.
func hadNoRoom(r *result.Result) bool {
	return slices.ContainsFunc(r.Errors, func(e result.Error) bool {
		return loadresult.Phase(e.Phase) != loadresult.Check &&
			(e.Kind == "no-file" || e.Kind == "no-port")
	})
}

// stopReasons finds servers that did not stop on request.
func stopReasons(t *lab.Trial) (all []lab.Reason) {
	for _, name := range t.Killed {
		all = append(all, reason(lab.GradeB, fact.ServerKilled{Process: name}))
	}
	return all
}
