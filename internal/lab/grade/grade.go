// Package grade says what a single trial is worth: A, B or F, with the reasons, and what can be
// done about them in the experiment's file.
//
//	grade.go        the grade of a trial, with reasons
//	miscount.go     server and generator count differently
//	mser.go         warm-up within a window
//	remedy.go       what to do about a reason
package grade

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
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
	passing := t.Search != nil && t.Search.End == lab.ClientBound
	return []lab.Reason{{Grade: lab.GradeF, Says: t.Failure.Phase + ": " + t.Failure.Reason,
		Passing: passing}}
}

// machineReasons finds other load on the machine.
func machineReasons(t *lab.Trial) (all []lab.Reason) {
	if t.Result == nil || t.Result.Server == nil {
		return nil
	}
	host := &t.Result.Server.Host
	wall := host.WallS * 1e9 * float64(max(host.CPUs, 1))
	for _, lost := range []struct {
		N    probe.Value
		What string
	}{
		{host.ListenOverflow, "connections were dropped because a listener's queue was full"},
		{host.SoftnetDrops, "packets were dropped by the kernel"},
		{host.Retransmits, "TCP segments were sent again"},
	} {
		if lost.N > 0 { // NaN is not
			all = append(all, lab.Reason{Grade: lab.GradeB, Says: fmt.Sprintf("%.0f %s", lost.N, lost.What)})
		}
	}
	all = append(all, shareReasons(float64(host.Steal)/100, stealFlag, stealFail,
		"the machine's host took %s %% of its time")...)
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
		"other programs used at least %s %% of the machine's CPUs")...)
}

// shareReasons returns a reason if a share of the machine is above a limit; NaN is above none.
func shareReasons(share, flag, fail float64, says string) []lab.Reason {
	grade := lab.GradeF
	switch {
	case !(share > flag):
		return nil
	case share <= fail:
		grade = lab.GradeB
	}
	return []lab.Reason{{Grade: grade, Says: fmt.Sprintf(says, digits.Two(100*share)), Passing: true}}
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
	all = shareReasons(float64(host.Throttled)/usable, quotaFlag, quotaFail,
		"the CPU quota of dyno's cgroup took %s %% of the CPUs' time"+
			fmt.Sprintf(", in %.0f periods", host.Throttlings))
	all = append(all, shareReasons(float64(host.PressureMemory)/100, memoryFlag, memoryFail,
		"memory was short %s %% of the time (PSI)")...)
	if host.TooHot > 0 {
		all = append(all, lab.Reason{Grade: lab.GradeB, Says: fmt.Sprintf(
			"CPUs were slowed down %.0f times because they were hot", host.TooHot), Passing: true})
	}
	return all
}

// generatorDoubts are the doubts of the generator's verdict. A generator at its limit spoils
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

// failedChecks are the checks that answers did not pass, in brackets; "" if there is none.
func failedChecks(r *result.Result) string {
	var all []string
	for _, c := range r.Checks {
		if c.Failed > 0 {
			all = append(all, fmt.Sprintf("%s: %d", c.Name, c.Failed))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " (checks that failed: " + strings.Join(all, ", ") + ")"
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
		all = append(all, lab.Reason{Grade: g, Server: true, Says: fmt.Sprintf(
			"%s of %s requests failed and %s had no answer at the end%s", loadresult.CountText(q.Errors),
			loadresult.CountText(q.Sent), loadresult.CountText(q.Unfinished), failedChecks(t.Result))})
	}
	for _, e := range t.Result.Errors {
		if loadresult.IsRefusal(loadresult.Phase(e.Phase), e.Kind, e.Address) {
			all = append(all, lab.Reason{Grade: lab.GradeF, Says: fmt.Sprintf(
				"%s %s due and not sent: %s", digits.Plural(e.Count, "request"), digits.Were(e.Count),
				e.Text(setting.Key))})
		}
	}
	all = append(all, sizeReasons(t)...)
	for _, c := range t.Changed {
		all = append(all, lab.Reason{Grade: lab.GradeF, Server: true, Says: "after the load the server " +
			"answered otherwise: " + c.Aspect + " was " + c.Before + " and is " + c.After})
	}
	return all
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
	return []lab.Reason{{Grade: lab.GradeF, Server: true, Says: fmt.Sprintf("%.0f bytes were "+
		"received for each request, and %.0f when it was checked", float64(received)/float64(n), t.Wire)}}
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
	what, begun, why := t.Result.Counted()
	if t.Result.OwnDelay() {
		why = "the generator was late, although connections were free"
	}
	short := t.Result.Shortage().Of // users may have been thinking
	server := !t.Result.OwnDelay() && !hadNoRoom(t.Result) &&
		(short == fact.OfConnections || short == fact.OfServer)
	return []lab.Reason{{Grade: lab.GradeF, Server: server,
		Says: fmt.Sprintf("%.1f %% of the %s due were %s "+
			"in time: %s", 100*share, what, begun, why)}}
}

func steadinessReasons(t *lab.Trial) (all []lab.Reason) {
	say := func(format string, args ...any) {
		all = append(all, lab.Reason{Grade: lab.GradeB, Says: fmt.Sprintf(format, args...)})
	}
	if w := t.Warmup; w != nil && w.Steady == lab.No && w.CoV > 0 {
		say("not steady after %.1f s of warm-up: throughput varied by %.1f %%", w.TookS, 100*w.CoV)
	} else if w != nil && w.Steady == lab.No {
		say("not steady after %.1f s of warm-up", w.TookS)
	}
	if t.Steadiness == stats.Slowdown || t.Steadiness == stats.Unsteady {
		say("its seconds show: %s", t.Steadiness)
	}
	if c := t.Transient; c.IsCold() {
		say("the first %.0f s of its window were still warm-up (MSER-5): without them throughput "+
			"would be %.1f %% higher", c.CutS, 100*c.Change)
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
	return []lab.Reason{{Grade: g, Server: !hadNoRoom(t.Result),
		Says: fmt.Sprintf("%s %% of the load could not be "+
			"applied: connections were gone and could not be opened again, or waited for an answer until "+
			"the end",
			digits.Significant(100*t.Result.Unavailable(), 3))}}
}

// connectionReasons finds a load on fewer connections than it asked for.
func connectionReasons(t *lab.Trial) []lab.Reason {
	if t.Result == nil {
		return nil
	}
	missing, what := t.Result.Unused()
	if missing == 0 {
		return nil
	}
	asked := int64(t.Result.Connections.Asked)
	return []lab.Reason{{Grade: lab.GradeF, Server: !hadNoRoom(t.Result), Starved: missing,
		Asked: asked, Says: fmt.Sprintf("%s of %s connections %s", loadresult.CountText(missing),
			loadresult.CountText(asked), what)}}
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
		all = append(all, lab.Reason{Grade: lab.GradeB, Says: name + " had to be killed"})
	}
	return all
}
