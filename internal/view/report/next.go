package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/objective"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/repeat"
)

// NextLoad is the load that the next step after a run makes; ok is false if it makes none, or one
// that a plan does not say all of.
func NextLoad(r *result.Result) (p loadplan.Plan, ok bool) {
	if _, next := nextStep(r, RunAnswer(r), r.Voice()); next != nil && r.Fleet == nil {
		return *next, true
	}
	return loadplan.Plan{}, false
}

const (
	saveErrors = "repeat it%s with --save-errors errors: failed requests and their answers are kept " +
		"in the folder errors"
	findAgent = "look why agent %s was lost (its log, dyno fleet ls), then repeat it"
	quiet     = "when nothing else is at work on this machine"
	giveMore  = "repeat it with twice the %[1]s: if fewer requests wait, there were too few %[1]s; " +
		"if not, the server stalls or is too slow for this rate"
	ownPauses = "repeat it: if the generator is ok then, the highest latencies are not its own"
)

// nextStep is one concrete step after a run, and the load that it makes; nil if it makes none.
func nextStep(r *result.Result, a answer.Answer, v say.Voice) (answer.Step, *loadplan.Plan) {
	p, ask := r.Plan, repeat.AskCommand(r.Plan)
	step := func(says, run string) (answer.Step, *loadplan.Plan) {
		return answer.Step{Says: says, Command: run}, nil
	}
	again := func(says string, words ...string) (answer.Step, *loadplan.Plan) { // p as it is then
		command, lost := commandWith(r, p, words...)
		return answer.Step{Says: withLost(says, lost), Command: command, Short: says}, &p
	}
	switch {
	case r.Requests.Sent == 0 && r.Refused() > 0:
		return step("mend the values: none fits where its hole stands", "")
	case r.Answers() == 0 && len(r.Status) == 0 && has[fact.ProxyUnused](r):
		return step("check that the server answers at this address without the proxy",
			repeat.AskCommand(p, "--noproxy '*'"))
	case r.Answers() == 0 && has[fact.AnswerUnfinished](r):
		return step("ask once with curl: if it waits as well, the server does not end its answers", ask)
	case isSilent(r), timeOver(r) != "":
		return again(waitLonger(r, &p, v))
	case goneLead(r) != "", r.Answers() > 0 && wasGone(r):
		return again("read in " + say.LookAt(p.Peer()).Log + " why it stopped, then repeat the run")
	case r.Answers() == 0 && len(r.Status) == 0:
		return step(say.LookAt(p.Peer()).Check, askFailed(r))
	case starved(r) > 0:
		return again(answeredOnly(r, &p, v))
	case awayStep(r, v) != "":
		return step(awayStep(r, v), "")
	case r.FailedShare() >= result.FailingShare && r.Fleet != nil:
		return step("see how one request is answered: agents keep no answers", ask)
	case r.FailedShare() >= result.FailingShare || haveFailed(r):
		return seeFailures(r, &p, again), nil
	case len(r.Fleet.Lost()) > 0:
		return again(fmt.Sprintf(findAgent, strings.Join(r.Fleet.Lost(), ", agent ")))
	case r.Generator.Bound() == result.Limit && canHaveThreads(r):
		p.Threads = r.Host.CPUs
		return again("give the generator all CPUs")
	case r.Generator.Bound() == result.Limit:
		return limitStep(r, v), nil
	case p.Replay > 0 && nextReplay(r, a, v) != "":
		return step(nextReplay(r, a, v), "")
	case r.Generator.NotJudged():
		tenSeconds(&p)
		return again("measure for longer: ten seconds")
	case hasDoubt(r, result.NeverSent) && canBeLower(r):
		p.Rate = lowerRate(r.Rate.Completed)
		more := r.Shortage().Remedies()[0]
		return again(fmt.Sprintf("lower the rate below the %s/s that were completed, or %s",
			format.Digits3(r.Rate.Completed), v(more.Setting, more.Value)))
	case hasDoubt(r, result.Unserved) && r.Model == result.ClosedLoop && r.Connections.Served > 0:
		p.Connections = int(r.Connections.Served)
		return again(v("connections", fact.Lower) + ", or " + v("warmup", moreWarmup(r)))
	case a.Has(answer.Disturbed) || r.Generator.Verdict != result.OK:
		s, p := again(againText(r, a))
		s.Remedy = generatorRemedy(a)
		return s, p
	case stallText(r) != "" && p.Replay == 0:
		return again(giveTwice(r, &p))
	}
	return stepAfterGood(r), nil
}

// giveTwice gives a plan twice as much of what requests waited for.
func giveTwice(r *result.Result, p *loadplan.Plan) string {
	what, n := "connections", &p.Connections
	if r.Shortage().Of == fact.OfUsers {
		what, n = "users", &p.Users
	}
	*n *= 2
	return fmt.Sprintf(giveMore, what)
}

// askFailed asks for the address at which most failed, of a run without an answer.
func askFailed(r *result.Result) string {
	if len(r.Errors) > 0 {
		if i := r.Plan.OriginAt(mostFrequent(r.Errors).Address); i >= 0 {
			return repeat.AskCommand(r.Plan.Towards(i))
		}
	}
	return repeat.AskCommand(r.Plan)
}

// awayStep is what has redirects to other origins followed, where most failures are such; "" if
// they are not, or if nothing has.
func awayStep(r *result.Result, v say.Voice) string {
	f, away, found := fact.Find[fact.RedirectsAway](r.Facts)
	if !found || 2*away.Count < r.Requests.Errors || r.FailedShare() < result.FailingShare {
		return ""
	}
	return say.Advice(f, v)
}

// canHaveThreads reports whether a generator that was the limit could have had more threads.
func canHaveThreads(r *result.Result) bool {
	facts := limits(r)
	older := len(facts) == 0 && r.Generator.Threads < r.Host.CPUs
	return older || slices.ContainsFunc(facts, func(f fact.Fact) bool {
		return slices.Contains(f.Remedies, fact.Remedy{Setting: "threads", Value: fact.Higher})
	})
}

// limitStep is the next step after a run whose generator was the limit and has no more threads.
func limitStep(r *result.Result, v say.Voice) answer.Step {
	facts := limits(r)
	_, busy, _ := fact.Find[fact.Busy](facts)
	if len(facts) > 0 && (busy.AtQuota || r.Generator.Threads < r.Host.CPUs) {
		remedy := say.Advice(facts[0], v)
		return answer.Step{Says: remedy + ", then repeat the run", Remedy: remedy}
	}
	return answer.Step{Says: "load from several machines, or compare CPU per request in an experiment",
		Command: "dyno help fleet up"}
}

// limits are the facts by which the generator was the limit, with what can be done about them.
func limits(r *result.Result) (all []fact.Fact) {
	for i, f := range r.ReasonFacts() {
		if d := r.Generator.Doubts; i < len(d) && d[i].Kind == result.Limit &&
			say.Advice(f, r.Voice()) != "" {
			all = append(all, f)
		}
	}
	return all
}

// tenSeconds has a plan measure for ten seconds.
func tenSeconds(p *loadplan.Plan) {
	p.Requested, p.Duration = 0, loadplan.Seconds(10*time.Second)
}

// seeFailures is the step to the requests that failed: again, with a folder for them, unless the
// run had one. It is for longer if the run was too short for a verdict.
func seeFailures(r *result.Result, p *loadplan.Plan,
	repeat func(says string, words ...string) (answer.Step, *loadplan.Plan)) answer.Step {
	if p.SaveErrors {
		return answer.Step{Says: "read the failed requests and their answers in the folder of " +
			"--save-errors"}
	}
	long := ""
	if r.Generator.NotJudged() && p.Replay == 0 {
		long = " for ten seconds,"
		tenSeconds(p)
	}
	s, _ := repeat(fmt.Sprintf(saveErrors, long), "--save-errors", "errors")
	return s
}

// isServers reports whether the server failed in a way that a reader has to look at first: it
// failed requests, was gone, or left connections without an answer.
func isServers(r *result.Result) bool {
	_, failing := r.FailedIterations()
	return failing || r.FailedShare() >= result.FailingShare || goneLead(r) != "" || wasGone(r) ||
		!r.Applied() || hasDoubt(r, result.Unserved)
}

// starved is how many of the connections had no answer in the whole window, or none any more.
func starved(r *result.Result) int64 {
	none := noServer(r)
	return none.Held + none.Unanswered
}

// noServer is how many connections had no server; zero if all had one.
func noServer(r *result.Result) (none fact.NoServer) {
	if f := r.FindNoServer(); f != nil {
		none = f.Args.(fact.NoServer)
	}
	return none
}

// answeredOnly gives a plan only as many connections as were answered, if these can be told.
func answeredOnly(r *result.Result, p *loadplan.Plan, v say.Voice) string {
	look := "look at " + say.LookAt(p.Peer()).Limits
	none := noServer(r)
	n := none.Of - starved(r)
	if none.Of != int64(p.Connections) || n < 1 {
		return look + ", then repeat the run"
	}
	p.Connections = int(n)
	return fmt.Sprintf("%s; then repeat the run with as many connections as were answered: %s", look,
		v("connections", fmt.Sprint(n)))
}

// stepAfterGood is the next step after a run whose numbers can be relied on.
func stepAfterGood(r *result.Result) answer.Step {
	limits := upperLimits(r)
	switch {
	case MissedObjectives(limits) != "":
		return findStep(r, "find the rate that meets the objective", limits)
	case r.Model != result.OpenLoop && len(limits) > 0:
		return findStep(r, "find the highest rate that meets the objective, which a closed load does "+
			"not show", limits)
	case r.Model != result.OpenLoop:
		low := "latency stays low"
		if r.Stream != nil {
			low = "streams begin soon"
		}
		return findStep(r, "find the highest rate at which "+low+", which a closed load does not show",
			nil)
	}
	return answer.Step{Command: "dyno lab init experiment.yaml",
		Says: "measure it several times in an experiment, which shows how much it varies"}
}

// upperLimits are the objectives without those that are easier to meet the higher the rate.
func upperLimits(r *result.Result) []result.Outcome {
	return slices.DeleteFunc(slices.Clone(r.Objectives), func(o result.Outcome) bool {
		of, err := objective.Parse(o.Expr)
		return err != nil || !of.IsUpperBound()
	})
}

// isSilent reports whether requests were sent, and none was answered or failed: it may take longer.
func isSilent(r *result.Result) bool {
	return r.Answers() == 0 && len(r.Errors) == 0 && r.Requests.Unfinished > 0 && r.Plan.Duration > 0
}

// commandWith repeats a result with another plan. It does not name as many threads as there are
// without -t.
func commandWith(r *result.Result, p loadplan.Plan, words ...string) (line, lost string) {
	changed := *r
	if p.Threads == r.Host.CPUs {
		p.Threads = 0
	}
	changed.Plan = p
	return repeat.Run(&changed, words...)
}

// waitLonger gives a plan, whose load had no answer in time, more time.
func waitLonger(r *result.Result, p *loadplan.Plan, v say.Voice) string {
	more := "measure for longer"
	switch of := timeOver(r); of {
	case "timeout":
		more, p.Timeout = v(of, fact.Higher), 10*p.Timeout
	case "stall":
		more, p.Stream.Stall = v(of, fact.Higher), 10*p.Stream.Stall
	default:
		p.Duration = max(10*p.Duration, loadplan.Seconds(10*time.Second))
	}
	return "see how long an answer takes (" + repeat.AskCommand(*p) +
		") and, if the server is only slow, " + more
}

// timeOver is the setting of the time that was over for each request, none of which was answered;
// "" if there is none such.
func timeOver(r *result.Result) string {
	ended := func(is func(result.Error) bool) bool {
		return r.Answers() == 0 && len(r.Errors) > 0 &&
			!slices.ContainsFunc(r.Errors, func(e result.Error) bool { return !is(e) })
	}
	switch {
	case ended(func(e result.Error) bool { return e.Phase == string(loadresult.Timeout) }):
		return "timeout"
	case ended(func(e result.Error) bool { return e.Kind == "stalled" }):
		return "stall"
	}
	return ""
}

// has reports whether a result has a fact of a kind.
func has[T fact.Args](r *result.Result) bool {
	_, _, found := fact.Find[T](r.Facts)
	return found
}

// nextReplay is what to do after a replay that has to be another one; "" if it has not.
func nextReplay(r *result.Result, a answer.Answer, v say.Voice) string {
	switch {
	case r.Generator.NotJudged():
		return "measure for longer: replay more of the log"
	case hasDoubt(r, result.NeverSent) && !r.WasGone():
		return r.Voice()("rate", fact.Lower) + ", or " + v("connections", fact.Higher)
	case MissedObjectives(upperLimits(r)) != "" && r.Generator.Verdict == result.OK &&
		!a.Has(answer.Disturbed):
		return r.Voice()("rate", fact.Lower) + " until the objective is met"
	}
	return ""
}

// moreWarmup is what to do with the warm-up, so that connections begin before the window.
func moreWarmup(r *result.Result) string {
	if r.Plan.Warmup > 0 {
		return fact.Higher
	}
	return fact.Some
}

// hasDoubt reports whether a check has a doubt.
func hasDoubt(r *result.Result, cause result.Cause) bool {
	return slices.ContainsFunc(r.Generator.Doubts, func(d result.Doubt) bool {
		return d.Cause == cause
	})
}

// hasOnlyPauses reports whether a run's only doubts are pauses: a quieter machine mends none.
func hasOnlyPauses(r *result.Result) bool {
	own := ownDoubts(r)
	return len(own) > 0 && !slices.ContainsFunc(own, func(d result.Doubt) bool { return !isPause(d) })
}

// ownDoubts are the doubts by which a generator's own numbers may be wrong.
func ownDoubts(r *result.Result) []result.Doubt {
	isForeign := func(d result.Doubt) bool { return !r.IsOwn(d) || d.Verdict == result.OK }
	return slices.DeleteFunc(slices.Clone(r.Generator.Doubts), isForeign)
}

func isPause(d result.Doubt) bool { return d.Cause == result.Pauses || d.Cause == result.Stops }

// canBeLower reports whether a lower rate mends requests that were never sent: not where the server
// was gone for a time, nor where the rate has stages.
func canBeLower(r *result.Result) bool {
	return r.Window.OutageS == 0 && len(r.Plan.Stages) == 0 && r.Iterations == nil &&
		r.Rate.Completed >= 1 && r.Rate.Completed < r.Plan.Rate.PerSecond()
}

// lowerRate is nine tenths of a rate, down to two digits.
func lowerRate(completed float64) loadplan.Rate {
	rate := 0.9 * completed
	scale := math.Pow(10, math.Floor(math.Log10(rate))-1)
	return loadplan.RatePerSecond(math.Floor(rate/scale) * scale)
}

// generatorRemedy is what can be done about the worst of the generator's doubts; "" if nothing.
func generatorRemedy(a answer.Answer) string {
	kinds := []string{answer.Disturbed, answer.OtherLoad, answer.AtLimit, answer.Generator}
	for _, c := range a.Cautions {
		if c.Remedy != "" && slices.Contains(kinds, c.Kind) {
			return c.Remedy
		}
	}
	return ""
}

// againText has a run repeated with what can be done about the generator.
func againText(r *result.Result, a answer.Answer) string {
	if hasOnlyPauses(r) {
		return ownPauses
	}
	if remedy := generatorRemedy(a); remedy != "" {
		return "repeat it: " + remedy
	}
	return "repeat it " + quiet
}

// withLost is a step with what its command lacks.
func withLost(says, lost string) string {
	if lost == "" {
		return says
	}
	return says + " (not in the command: " + lost + ")"
}

// findStep searches for the rate that meets objectives, with the same load.
func findStep(r *result.Result, says string, all []result.Outcome) answer.Step {
	command, lost := repeat.Find(r, all)
	return answer.Step{Says: withLost(says, lost), Command: command}
}
