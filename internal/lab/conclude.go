package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/server"
	"dyno/internal/stats"
)

func (r *running) newRecord() error {
	l, e := r.Lab, r.Experiment
	kept, err := e.Kept(l.Keep)
	if err != nil {
		return err
	}
	r.source, r.conceal = kept.Source, concealing(e, l.Keep, kept.Secrets)
	sum := sha256.Sum256(kept.Source)
	r.record = &Record{Format: ExperimentFormat, Dyno: l.Version, Name: e.Name, State: Running,
		Started: time.Now().UTC(), Seed: e.Design.Seed, Quick: l.Quick, File: e.File, Here: e.Here,
		SHA256: hex.EncodeToString(sum[:]), Shown: l.Keep == nil, Plan: kept.Plan,
		Experiment: e, Host: result.ThisHost(), Machine: machineFacts(), CPUs: l.CPUs, Fleet: l.Fleet}
	return nil
}

// conclude computes from the trials what the record says of them, and stores it.
func (r *running) conclude() error {
	if r.record.State == Running {
		r.record.State = Complete
	}
	r.record.Ended = time.Now().UTC()
	if r.worked >= 0 {
		r.record.WorkedS = r.worked + time.Since(r.began).Seconds()
	}
	r.record.compute(r.trials)
	r.record.recallNoise(Earlier(r.History, r.record))
	return r.store.write(experimentFile, r.record)
}

// compute fills in all that follows from the trials.
func (r *Record) compute(trials []*Trial) {
	q, first := r.question(), batch(trials, false)
	cells := sortTrials(first)
	r.Verdicts = judgeAll(q, first)
	for i, c := range r.Verdicts {
		r.Verdicts[i].ClientBound = c.ClientBound || r.nearCeiling(c, cells)
	}
	r.Shifts = q.shifts(cells)
	r.Ranks, r.Cells, r.Trials, r.SpentS = q.ranks(first, r.Verdicts), nil, nil, 0
	for _, level := range q.levels {
		for _, m := range Measures {
			r.Cells = append(r.Cells, q.cellsOf(cells, m, level)...)
		}
	}
	r.Parts = parts(q, cells)
	for _, t := range trials {
		r.Trials = append(r.Trials, t.brief())
		r.SpentS += t.TookS
	}
	r.Objectives = objectives(q, cells)
	r.Sampler = samplerCost(trials)
	r.Programs, r.Served = ran(trials), agreement(trials)
	r.Advice = r.advice(trials)
	r.Published = beside(r, r.Experiment.Published)
	r.Cautions = r.cautions(trials)
}

// cellsOf are the medians of all arms at a level by one measure.
func (q question) cellsOf(cells byCell, m Measure, level string) (all []Cell) {
	for _, arm := range q.arms {
		values := valuesOf(cells, m, arm.name, level)
		v, err := stats.MedianInterval(values, 0.95)
		if err == nil {
			all = append(all, Cell{arm.name, level, m.Name, m.Unit, v, len(values)})
		}
	}
	return all
}

// parts are the medians of what each process used, in the order in which trials
// name them.
func parts(q question, cells byCell) (all []Part) {
	for _, level := range q.levels {
		for _, arm := range q.arms {
			var names []string
			used := map[string][]result.Usage{}
			for _, round := range cells.rounds() {
				t := cells.best(arm.name, level, round)
				if t == nil {
					continue
				}
				for _, u := range summed(t.processes()) {
					if used[u.Name] == nil {
						names = append(names, u.Name)
					}
					used[u.Name] = append(used[u.Name], u)
				}
			}
			for _, name := range names {
				all = append(all, part(arm.name, level, name, used[name]))
			}
		}
	}
	return all
}

// summed are a trial's processes, those of one name together, as the workers of a
// pool are.
func summed(all []result.Usage) (sums []result.Usage) {
	for _, u := range all {
		i := slices.IndexFunc(sums, func(s result.Usage) bool { return s.Name == u.Name })
		if i < 0 {
			sums = append(sums, u)
			continue
		}
		sums[i].Add(u)
	}
	return sums
}

func part(arm, level, name string, used []result.Usage) Part {
	median := func(of func(result.Usage) probe.Value) probe.Value {
		var x []float64
		for _, u := range used {
			if v := of(u); v.OK() {
				x = append(x, float64(v))
			}
		}
		return probe.Value(stats.Median(x))
	}
	return Part{arm, level, name, median(func(u result.Usage) probe.Value { return u.CPU }),
		median(func(u result.Usage) probe.Value { return u.User }),
		median(func(u result.Usage) probe.Value { return u.System }),
		median(func(u result.Usage) probe.Value { return u.Percent }),
		median(func(u result.Usage) probe.Value { return u.Memory })}
}

// samplerCost is the median share of a core, in percent, that watching took; nil
// if nothing was watched.
func samplerCost(trials []*Trial) *float64 {
	var shares []float64
	for _, t := range trials {
		if t.Result != nil && t.Result.Server != nil && t.Result.Server.Sampler.Share.OK() {
			shares = append(shares, float64(t.Result.Server.Sampler.Share))
		}
	}
	if len(shares) == 0 {
		return nil
	}
	m := stats.Median(shares)
	return &m
}

// objectives are in how many trials each was met.
func objectives(q question, cells byCell) (all []Kept) {
	for _, level := range q.levels {
		for _, arm := range q.arms {
			var kept []Kept
			for _, round := range cells.rounds() {
				t := cells.best(arm.name, level, round)
				if t == nil {
					continue
				}
				for i, o := range t.Objectives {
					if i == len(kept) {
						kept = append(kept, Kept{Expr: o.Expr, Arm: arm.name, Level: level})
					}
					kept[i].Trials++
					if o.Met {
						kept[i].Met++
					}
				}
			}
			all = append(all, kept...)
		}
	}
	return all
}

// nearCeiling reports whether a figure of throughput is near what the generator
// reaches at all.
func (r *Record) nearCeiling(c Comparison, cells byCell) bool {
	top := r.ceilingOf(c.Level)
	if c.Metric != "throughput" || top == 0 {
		return false
	}
	m, _ := measure(c.Metric)
	for _, arm := range []string{c.Baseline, c.Variant} {
		if v := valuesOf(cells, m, arm, c.Level); len(v) > 0 && stats.Median(v) > nearCeiling*top {
			return true
		}
	}
	return false
}

func (t *Trial) brief() Brief {
	b := Brief{ID: t.ID, Slot: t.Slot, Attempt: t.Attempt, Started: t.Started, Grade: t.Grade,
		Reasons: t.Reasons, Served: t.Served, Failure: t.Failure, Values: map[string]float64{}}
	for _, m := range Measures {
		if v, ok := m.Of(t); ok {
			b.Values[m.Name] = v
		}
	}
	return b
}

// beside sets published figures beside ours. Only ratios are comparable: the
// machine is another, and often so is the decade.
func beside(r *Record, p *experiment.Published) (all []Beside) {
	if p == nil {
		return nil
	}
	published := func(variant string, f experiment.Figure) *float64 {
		i := slices.IndexFunc(p.Figures, func(g experiment.Figure) bool {
			return g.Variant == variant && g.Level == f.Level && g.Metric == f.Metric
		})
		if i < 0 {
			return nil
		}
		return p.Figures[i].Value
	}
	for _, f := range p.Figures {
		if f.Level != "" && !slices.Contains(r.question().levels, f.Level) {
			continue // one that --quick leaves out
		}
		b := Beside{Figure: f, Ours: r.ours(f, f.Variant)}
		base := r.baselineOf(f.Variant)
		if base != f.Variant {
			b.Ratio = ratio(f.Value, published(base, f))
			b.OursRatio = r.judged(f)
			if b.OursRatio == nil {
				b.OursRatio = ratio(b.Ours, r.ours(f, base))
			}
		}
		all = append(all, b)
	}
	return all
}

func ratio(a, b *float64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	q := *a / *b
	return &q
}

// ours is what an arm has where others published f, in the unit of f: a median
// of trials, or the share of a function in a profile.
func (r *Record) ours(f experiment.Figure, arm string) *float64 {
	if function, is := strings.CutPrefix(f.Metric, "share:"); is {
		return r.share(function, arm, f.Level)
	}
	for _, c := range r.Cells {
		if c.Arm == arm && c.Level == f.Level && c.Metric == f.Metric {
			return convert(c.Median.Estimate, c.Unit, f.Unit)
		}
	}
	return nil
}

// judged is the ratio that the verdict on f's arm rests on: of pairs, and not of
// medians, which belong to different moments.
func (r *Record) judged(f experiment.Figure) *float64 {
	for _, c := range r.Verdicts {
		if c.Variant == f.Variant && c.Level == f.Level && c.Metric == f.Metric && c.Ratio > 0 {
			return &c.Ratio
		}
	}
	return nil
}

// microseconds that units of time have.
var microseconds = map[string]float64{"ns": 1e-3, "µs": 1, "us": 1, "ms": 1e3, "s": 1e6}

// convert is a value in another unit; nil: there is no way to tell.
func convert(value float64, from, to string) *float64 {
	if a, b := microseconds[from], microseconds[to]; a > 0 && b > 0 {
		value *= a / b
	} else if from != to && to != "" {
		return nil
	}
	return &value
}

// share is that of a function in a profile, in percent.
func (r *Record) share(function, arm, level string) *float64 {
	for _, p := range r.Profiles {
		for _, s := range p.Shares {
			if p.Arm == arm && p.Level == level && s.Function == function {
				percent := 100 * s.Cumulative.Share
				return &percent
			}
		}
	}
	return nil
}

// baselineOf is with whom an arm is compared.
func (r *Record) baselineOf(arm string) string {
	for _, c := range r.Verdicts {
		if c.Variant == arm {
			return c.Baseline
		}
	}
	return r.Experiment.Design.Baseline
}

// cautions are what a reader must know before the verdicts.
func (r *Record) cautions(trials []*Trial) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if why := r.unloaded(); why != "" {
		all = append(all, why)
	}
	for _, c := range r.Verdicts {
		if c.Control && c.Verdict == stats.Different {
			say("%s differs from itself in %s at %s by a factor of %.3f [%.3f, %.3f]: this machine "+
				"does not support comparisons that fine now", c.Baseline, c.Metric, c.Level, c.Ratio, c.Low,
				c.High)
		}
	}
	d := r.Experiment.Design
	if !r.CPUs.Apart && r.Fleet == nil {
		say("generator and servers share CPUs: %s", r.CPUs.Reason)
	}
	switch {
	case d.Order == experiment.Sequential:
		say("the trials ran one cell after the other: whatever changed meanwhile looks like a difference")
	case d.Isolation == experiment.Shared:
		say("servers stayed up over all rounds: what differs from one start to the next was drawn once")
	}
	if n := len(sortTrials(batch(trials, false)).rounds()); n > 0 && n < minimum {
		say("with %d rounds the least p is %.3g %%, which is above 5 %%: whatever differs, no verdict "+
			"can say so; it takes %d rounds", n, 200*math.Pow(2, -float64(n)), minimum)
	}
	if n := countGrade(trials, GradeF); n > 0 {
		say("%d of %d trials are of grade F: see their reasons", n, len(trials))
	}
	all = append(append(all, r.lost()...), miscounts(trials)...)
	ended := r.State == Complete || r.State == OverBudget
	if n := spoiledTrials(trials); ended && float64(n) > mostAgain*float64(len(trials)) {
		say("the machine was busy in %d of %d trials, too many to repeat them: run the experiment again "+
			"when nothing else is at work", n, len(trials))
	}
	switch f := r.Fairness; {
	case r.Experiment.Fairness.Mode == experiment.Off:
		say("fairness: off: whether the servers answer alike was not looked at")
	case f != nil && r.Experiment.Fairness.Mode == experiment.Warn && len(f.Violations()) > 0:
		say("the servers do not answer alike, and were compared all the same (fairness: warn)")
	}
	if s := notSteady(trials); s != "" {
		say("no steady state, or a slowdown, in trials of %s", s)
	}
	for _, name := range changedPrograms(r.Programs) {
		say("%s is not the same file in all trials", name)
	}
	if slow, fast, uneven := frequencies(trials); uneven {
		say("the CPUs' frequency was %.0f MHz in one trial and %.0f MHz in another: CPU time grows as "+
			"it falls", slow, fast)
	}
	return all
}

// unevenFrequency is the ratio of two trials' CPU frequencies that a reader must know of.
const unevenFrequency = 1.05

// frequencies are the lowest and the highest of the CPUs, in MHz, among trials where they can
// be read; uneven if they lie far apart.
func frequencies(trials []*Trial) (slow, fast float64, uneven bool) {
	for _, t := range trials {
		if t.Result == nil || t.Result.Server == nil || !(t.Result.Server.Host.Frequency > 0) {
			continue
		}
		f := float64(t.Result.Server.Host.Frequency)
		if slow == 0 || f < slow {
			slow = f
		}
		fast = max(fast, f)
	}
	return slow, fast, slow > 0 && fast > unevenFrequency*slow
}

// spoiledTrials are those that the machine made worthless, at the first attempt.
func spoiledTrials(trials []*Trial) (n int) {
	for _, t := range trials {
		if t.Attempt == 1 && t.mayPass() {
			n++
		}
	}
	return n
}

func countGrade(trials []*Trial, g Grade) (n int) {
	for _, t := range trials {
		if t.Grade == g {
			n++
		}
	}
	return n
}

// notSteady names the arms of which a trial never came to rest.
func notSteady(trials []*Trial) string {
	var arms []string
	for _, t := range trials {
		if (t.Steadiness == stats.Slowdown || t.Steadiness == stats.Unsteady) &&
			!slices.Contains(arms, t.Arm) {
			arms = append(arms, t.Arm)
		}
	}
	return strings.Join(arms, ", ")
}

// Split is how CPUs are given to generator and servers: as the file says, else
// by cores.
func Split(c experiment.CPUs) (server.Split, error) {
	s, err := server.SplitCPUs()
	if err != nil {
		return s, err
	}
	if len(c.Generator) > 0 {
		s.Generator = c.Generator
	}
	if len(c.Server) > 0 {
		s.Server = c.Server
	}
	if len(c.Generator)+len(c.Server) > 0 {
		s.Apart, s.Reason = true, ""
		for _, cpu := range s.Generator {
			if slices.Contains(s.Server, cpu) {
				s.Apart, s.Reason = false, fmt.Sprintf("CPU %d is in both sets of design.cpus", cpu)
			}
		}
	}
	return s, nil
}
