package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
	"dyno/internal/fairness"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	"dyno/internal/lab/workload"
	"dyno/internal/observe/probe"
	"dyno/internal/say"
	"dyno/internal/server"
)

// keptMax is how many requests the check before the load sends on one connection at most. A server
// that closes after fewer is then known.
const keptMax = 200

// checkFairness queries each variant once, before any load, and compares the answers. In strict
// mode a variant whose answer differs from the reference is not tested.
func (r *running) checkFairness(ctx context.Context) {
	f := r.Experiment.Fairness
	if f.Mode == experiment.Off {
		return
	}
	var asked []fairness.Asked
	setups := map[string][]probe.Setup{}
	for _, a := range r.loadableArms() {
		if a.Control || ctx.Err() != nil {
			continue
		}
		r.Tell(Event{Step: "check", Arm: a.Name})
		answer, setup, err := r.askArm(ctx, a)
		if err == nil {
			if err = r.trySession(ctx, a); err != nil {
				answer = nil // it is not compared with others
			}
		}
		if ctx.Err() != nil {
			r.recordArms()
			return // variants that were not queried are unknown
		}
		if err != nil {
			a.Remedy = r.remedyOf(a, err)
			r.excludeArm(a, err.Error())
		}
		a.Answer, setups[a.Name] = answer, setup
		asked = append(asked, fairness.Asked{Variant: a.Name, Answer: answer})
	}
	reference := r.referenceArm(asked)
	r.record.Fairness = fairness.Compare(reference, asked, f.Allow)
	addGivens(r.record.Fairness, setups)
	if f.Mode == experiment.Strict && reference != "" { // without a reference no variant is at fault
		r.excludeViolators(asked)
	}
	r.excludeControls()
	r.recordArms()
}

// excludeArm excludes an arm, with the reason.
func (r *running) excludeArm(a *arm, why string) {
	why = r.conceal.said(why)
	a.Unfit = why
	r.Tell(Event{Step: "unfit", Arm: a.Name, Remark: why})
}

// remedyOf is what to do about an arm that could not be queried.
func (r *running) remedyOf(a *arm, err error) string {
	failed, is := errors.AsType[*sessionError](err)
	unready, notStarted := errors.AsType[*server.Failure](err)
	switch {
	case notStarted && unready.Elsewhere != "":
		return mend(fact.ArmMend{By: fact.ListenThere, At: unready.Elsewhere}) + "; " +
			r.outputHint(a, checkOutput)
	case !is:
		return r.outputHint(a, checkOutput)
	case len(a.variant.Processes) == 0:
		return failed.remedy()
	}
	return failed.remedy() + "; " + r.outputHint(a, sessionOutput)
}

// mend is what to do about an arm, for the record.
func mend(how fact.ArmMend) string { return say.Plain(how) }

// checkOutput begins the name of the output of a server that is queried.
const checkOutput = "check"

// outputHint says where the output of an arm's server is, whose files begin with name, for a server
// that could not be queried.
func (r *running) outputHint(a *arm, name string) string {
	if len(a.variant.Processes) == 0 {
		return mend(fact.ArmMend{By: fact.StartIt})
	}
	files := filepath.Join(r.Dir, lab.OutputFolder,
		lab.FileName(name, a.Name)) + lab.PartMark + "*.log"
	if all, err := filepath.Glob(files); err == nil && !slices.ContainsFunc(all, hasText) {
		return mend(fact.ArmMend{By: fact.NoOutput})
	}
	return mend(fact.ArmMend{By: fact.SeeOutput, File: files})
}

// hasText reports whether a file has something in it, as far as can be seen.
func hasText(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Size() > 0
}

// reason is an error in one line, without secrets. Errors and secrets may have several lines.
func (r *running) reason(err error) string { return judge.JoinLines(r.conceal.said(err.Error())) }

// referenceArm is the arm that the others are compared with; "" if it gave no answer.
func (r *running) referenceArm(asked []fairness.Asked) string {
	for _, a := range asked {
		if a.Answer == nil {
			continue
		}
		if v := r.armNamed(a.Variant).variant; v.Name == r.Experiment.Fairness.Reference ||
			v.Of == r.Experiment.Fairness.Reference {
			return a.Variant
		}
	}
	return ""
}

// excludeViolators excludes the arms whose answers differ from the reference.
func (r *running) excludeViolators(asked []fairness.Asked) {
	why := map[string][]string{}
	for _, v := range r.record.Fairness.Violations() {
		why[v.Variant] = append(why[v.Variant], fmt.Sprintf("%s is %s where %s has %s", v.Aspect,
			v.Value, r.record.Fairness.Reference, v.Reference))
	}
	for _, name := range slices.Sorted(maps.Keys(why)) {
		if a := r.armNamed(name); a.Unfit == "" {
			a.Remedy = r.allowRemedy(name, asked)
			r.excludeArm(a, "not comparable (fairness: strict): "+strings.Join(why[name], "; "))
		}
	}
}

// excludeControls excludes the control of an excluded arm.
func (r *running) excludeControls() {
	for _, a := range r.arms {
		if a.Control {
			base := r.armNamed(a.Baseline)
			a.Unfit, a.Answer = base.Unfit, base.Answer
		}
	}
}

// askArm starts an arm's server only to query it: for an answer, for its count if it has one, and
// for how its processes are set up.
func (r *running) askArm(ctx context.Context, a *arm) (*fairness.Answer, []probe.Setup, error) {
	l := r.Experiment.Levels[0]
	stand, err := r.start(ctx, Setting{Arm: a.Name, Variant: a.variant, Level: l,
		Trial: lab.FileName(checkOutput, a.Name), Aside: true})
	if err != nil {
		return nil, nil, err
	}
	defer stand.Stop()
	p, _, err := r.plans(a, l, stand.URL(), nil)
	if err != nil {
		return nil, nil, err
	}
	q, err := firstQuestion(p)
	if err != nil {
		return nil, nil, err
	}
	q.KeepAlive = keptMax
	answer, err := r.askerFor(stand)(ctx, q)
	r.conceal.answer(answer)
	if count := stand.Reach().Count; count != nil && err == nil {
		if _, err = count(ctx); err != nil { // otherwise each trial would fail with it
			err = fmt.Errorf("served: %w", err)
		}
	}
	return answer, probe.Setups(stand.Trees()), err
}

// workload is the workload of an arm.
func (r *running) workload(a *arm) experiment.Workload {
	return workload.Of(r.Experiment, a.variant)
}

// firstQuestion is the first request of a plan, as a question for the check; with the first row and
// values that are the same each time in its holes.
func firstQuestion(p loadplan.Plan) (q fairness.Question, err error) {
	req := p.Requests[0].Request
	if m, is := p.Scenario.(interface {
		Example(due int64) (proto.Request, error)
	}); is {
		if req, err = m.Example(time.Now().UnixNano()); err != nil {
			return q, err
		}
	}
	q = fairness.Question{Way: p.Way(), Request: req}
	if beginsWithStream(&p) {
		q.Stream = &p.Stream
	}
	return q, nil
}

// beginsWithStream reports whether the answer to the first request of a plan is a stream: a session
// may log in before.
func beginsWithStream(p *loadplan.Plan) bool {
	s := &p.Stream
	if m, is := p.Scenario.(interface{ StreamsFirst() bool }); is && s.Marked {
		return m.StreamsFirst()
	}
	return s.IsSet() && (len(s.Steps) == 0 || slices.Contains(s.Steps, p.Requests[0].Name))
}

// allowRemedy describes how the user can allow the differences of an arm's answers. It names the
// fewest aspects, because some differences follow from others.
func (r *running) allowRemedy(name string, asked []fairness.Asked) string {
	aspects, enough := fairness.Fewest(r.record.Fairness.Reference, name, asked,
		r.Experiment.Fairness.Allow)
	if !enough {
		return mend(fact.ArmMend{By: fact.AllowAll})
	}
	return mend(fact.ArmMend{By: fact.AllowThem, Aspects: aspects,
		Allowed: slices.Concat(r.Experiment.Fairness.Allow, aspects)})
}
