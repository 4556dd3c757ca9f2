package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"dyno/internal/digits"
	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/fault"
	"dyno/internal/result"
	"dyno/internal/result/plansecrets"
	"dyno/internal/say"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
	"dyno/internal/view/sample"
)

// The exit codes. If several apply, the first of this list is used.
const (
	exitInterrupted = 130
	exitRefused     = 6 // an agent
	exitFault       = 5 // of dyno itself
	exitUsage       = 2
	exitUnreachable = 4 // no answer came
	exitUntrusted   = 3 // the measurement, and --strict was given
	exitMissed      = 1 // an objective
	exitOK          = 0
)

// runLoad is dyno run: one load, one result.
func runLoad(s streams, args []string) int {
	f, faults := readRun(args, s.in)
	faults = append(faults, s.drawableFaults(f)...)
	switch {
	case f.help:
		return s.printHelp("run")
	case len(faults) > 0:
		return s.refuseFlags("run", faults)
	}
	ctx, end := untilInterrupted()
	defer end()
	if err := s.openLive(f); err != nil {
		return s.refuseFlags("run", []error{err})
	}
	defer s.endMetrics(ctx, f)
	out, requestLog, code := s.openFiles(f)
	if code != exitOK {
		return code
	}
	defer f.errorsIn.removeEmpty()
	loading, stop := context.WithCancel(ctx)
	defer stop()
	shown, err := s.serveRun(f, stop)
	if err != nil {
		out.closeUnwritten()
		return s.failWith(exitFault, err)
	}
	run, leave, err := f.fleet.fleetRunner(shown.loadRunner(), s.fleetReporter(f.quiet || f.tui))
	if err != nil {
		out.closeUnwritten()
		shown.showEnd(ctx, s, nil, err)
		return s.failWith(busExitCode(err), err)
	}
	defer leave()
	d := s.newDisplay(f, stop)
	r, err := f.carryOutPlan(loading, f.plan, run, d.showInterval, shown.showInterval,
		f.live.publishInterval)
	if err := d.endDisplay(); err != nil {
		s.writeLine("dyno: --tui: %v", err)
	}
	logged := s.endLog(requestLog, f.quiet)
	if err != nil {
		shown.showEnd(ctx, s, nil, err)
		out.closeUnwritten()
		return s.failNotRun(err)
	}
	f.live.ended = true
	code = s.finishScript(f, r, s.deliverResult(f, r, out))
	if code == exitOK && !logged {
		code = exitUsage
	}
	shown.showEnd(ctx, s, r, nil)
	return code
}

// openFiles opens what a run writes to, and has its script print. Unless code is exitOK, all is
// closed again and the user has been told.
func (s streams) openFiles(f *runFlags) (out *output, log *requestLog, code int) {
	out, err := openOutput(f.json, s.out)
	if err != nil {
		return nil, nil, s.refuseFlags("run", []error{loadplan.Flaw{Setting: "--json",
			Problem: fault.Text(err)}})
	}
	if err := f.errorsIn.makeFolder(); err != nil {
		out.closeUnwritten()
		flaw := loadplan.Flaw{Setting: "--save-errors", Problem: fault.Text(err)}
		return nil, nil, s.refuseFlags("run", []error{flaw})
	}
	if err := s.releaseScript(f); err != nil {
		out.closeUnwritten()
		f.errorsIn.removeEmpty()
		return nil, nil, s.writeExitCode(err)
	}
	if log, err = f.openLog(); err != nil {
		out.closeUnwritten()
		f.errorsIn.removeEmpty()
		return nil, nil, s.refuseFlags("run", []error{err})
	}
	return out, log, exitOK
}

// carryOutPlan has a generator run p, which is the flags' plan, perhaps with addresses. It watches
// the server meanwhile. Each interval goes, without secrets, to those that show or publish it, in
// this order: they may block while a terminal is stopped.
func (f *runFlags) carryOutPlan(ctx context.Context, p loadplan.Plan, run result.Runner,
	shown ...func(loadresult.Interval)) (*result.Result, error) {
	w, err := startWatch(ctx, f)
	if err != nil {
		return nil, err
	}
	defer w.away.closeWatch()
	f.live.watchServer(w)
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	guard := newGuard(f)
	keep := f.planReplacer()
	conceal := plansecrets.IntervalConcealer(p, keep)
	r, err := run(ctx, p, func(iv loadresult.Interval) {
		guard.watchInterval(iv, abort)
		iv = conceal(iv)
		for _, show := range shown {
			show(iv)
		}
	})
	seen := w.endWatch()
	if err = errors.Join(err, r.RestorePlan(p, keep)); err != nil {
		return nil, err
	}
	seen(r)
	guard.judgeObjectives(r, f.objectives)
	return r, nil
}

// failNotRun reports why nothing was sent. Most often the user can fix it.
func (s streams) failNotRun(err error) int {
	if _, flaw := errors.AsType[loadplan.Flaw](err); flaw {
		return s.refuseFlags("run", joinedErrors(err))
	}
	return s.failWith(exitFault, err)
}

// untilInterrupted returns a context that ends with SIGINT or SIGTERM, or with SIGHUP when the
// terminal goes away, unless nohup ignores that. A second signal ends the process, unless it
// follows at once: a parent may pass on a signal that dyno has received already.
func untilInterrupted() (context.Context, context.CancelFunc) {
	return interruptedBy(context.Background())
}

// interruptedBy is untilInterrupted for a context that may also end for other reasons.
func interruptedBy(whole context.Context) (context.Context, context.CancelFunc) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(whole, ends...)
	context.AfterFunc(ctx, func() { time.AfterFunc(repeatedSignalTime, stop) })
	return ctx, stop
}

// repeatedSignalTime is how long after the first signal further signals are ignored.
const repeatedSignalTime = 500 * time.Millisecond

// deliverResult stores and shows r, and returns the exit code. If anything went wrong, the last
// line on stderr says what, unless the report on the same terminal has said it.
func (s streams) deliverResult(f *runFlags, r *result.Result, out *output) int {
	code := exitOK
	if f.save || !f.noSave && r.Answers() > 0 {
		if err := storeResult(r); err != nil {
			s.writeLine("dyno: %s", fault.Text(err))
			code = exitUsage // users must not believe that it was stored
		}
	}
	if err := s.showReport(f, r, out); err != nil {
		s.writeLine("dyno: writing the result%s: %v", storedText(r), err)
		code = exitUsage
	}
	if !s.saveErrors(f, r) {
		code = exitUsage
	}
	told := s.showsReport(f) && !f.quiet
	switch cause := failureOf(r, s.showsReport(f)); {
	case r.Ended == string(loadresult.Interrupted):
		return exitInterrupted
	case code != exitOK:
		return code
	case r.Ended == string(loadresult.Faulted):
		s.writeLine("dyno: %s", r.Cause)
		return exitUsage
	case cause != "":
		if r.ID == "" && !f.noSave {
			s.writeLine("dyno: a run without an answer is not stored; --save stores it")
		}
		s.writeLine("dyno: %s", cause)
		return exitUnreachable
	case len(r.Fleet.Lost()) > 0:
		s.writeLine("dyno: the measurement is partial: %s", lostAgents(r))
		s.sayObjectives(r, told)
		return exitUntrusted
	case f.strict && r.Generator.Verdict != result.OK:
		if !told {
			s.writeLine("dyno: the measurement cannot be trusted: %s", r.Generator.Verdict)
		}
		s.sayObjectives(r, told)
		return exitUntrusted
	}
	missed, undecided := s.sayObjectives(r, told)
	switch {
	case missed:
		return exitMissed
	case undecided && f.strict:
		return exitUntrusted
	}
	return exitOK
}

// sayObjectives says which objectives were missed or, if none was, which are undecided, unless the
// report told it.
func (s streams) sayObjectives(r *result.Result, told bool) (missed, undecided bool) {
	missing, open := report.MissedObjectives(r.Objectives), report.UndecidedObjectives(r.Objectives)
	switch {
	case told:
	case missing != "":
		s.writeLine("dyno: missed: %s", missing)
	case open != "":
		s.writeLine("dyno: %s", open)
	}
	return missing != "", open != ""
}

// storeResult stores r in the store.
func storeResult(r *result.Result) error {
	home, err := dynohome.Dir()
	if err != nil {
		return err
	}
	_, err = dynohome.Save(home, r)
	return err
}

// showReport writes the report to stdout, unless the JSON goes there.
func (s streams) showReport(f *runFlags, r *result.Result, out *output) error {
	err := errors.Join(out.writeResult(r), f.live.endStream(r))
	shown, _ := sample.Split(r.Samples)
	to := s.out
	if f.onlyJSON() {
		to = s.err
	}
	broken := sample.Shown(to, shown)
	err = errors.Join(err, broken)
	switch {
	case broken != nil, f.onlyJSON():
		return err
	case f.quiet:
		return errors.Join(err, report.Quiet(s.out, r))
	}
	style := s.reportStyle()
	style.Detail = f.verbose
	return errors.Join(err, report.Text(s.out, r, style))
}

// storedText says of a result that could not be written where it is all the same.
func storedText(r *result.Result) string {
	if r.ID == "" {
		return ""
	}
	return ", which is stored as " + r.ID
}

// showsReport reports whether stdout and stderr are the same terminal, so that stderr need not
// repeat the reasons of the report.
func (s streams) showsReport(f *runFlags) bool {
	return !f.onlyJSON() && isTerminal(s.out) && isTerminal(s.err)
}

// onlyJSON reports whether stdout has JSON and nothing else.
func (f *runFlags) onlyJSON() bool { return f.json == "-" || f.jsonStream }

// failureOf is why nothing was measured; "" if something was, which includes answers that are
// errors. If the report has told the reason, it is only the summary.
func failureOf(r *result.Result, told bool) string {
	if r.Answers() > 0 {
		return ""
	}
	head := "no request completed"
	if r.Ended == string(loadresult.Unreachable) {
		head = "nothing could be reached"
	}
	f, cut, found := fact.Find[fact.AnswerUnfinished](r.Facts)
	if found && cut.AtEnd && len(r.Errors) == 0 {
		return fmt.Sprintf("%s: %s (%s)", head, say.Sentence(f), digits.Times(cut.Count))
	}
	if len(r.Errors) == 0 {
		return fmt.Sprintf("%s: %s sent, none answered in %s", head,
			format.Plural(r.Requests.Sent, "request"), format.Seconds(r.Window.MeasuredS+r.Window.DrainedS))
	}
	if told {
		return head
	}
	e := r.Errors[0]
	where := e.Phase
	if e.Address != "" {
		where += " " + e.Address
	}
	return fmt.Sprintf("%s: %s: %s (%s)", head, where, e.Text(r.Voice()), digits.Times(e.Count))
}
