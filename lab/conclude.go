package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dyno/experiment"
	"dyno/probe"
	"dyno/result"
	"dyno/server"
	"dyno/stats"
)

func (l *Lab) newRecord() *Record {
	e := l.Experiment
	sum := sha256.Sum256(e.Source)
	planned, err := json.Marshal(e)
	if err != nil {
		panic(err) // it was read from text
	}
	r := &Record{Format: ExperimentFormat, Dyno: l.Version, Name: e.Name, State: Running,
		Started: time.Now().UTC(), Seed: e.Design.Seed, Quick: l.Quick, File: e.File, Here: e.Here,
		SHA256: hex.EncodeToString(sum[:]), Plan: planned, Experiment: e, Host: result.ThisHost(),
		Machine: machineFacts(), CPUs: l.CPUs}
	return r
}

// conclude computes from the trials all that the record says of them, and
// stores it.
func (r *running) conclude() error {
	q := r.question()
	rec := r.record
	if rec.State == Running {
		rec.State = Complete
	}
	rec.Ended = time.Now().UTC()
	measured := r.batch(false)
	rec.Verdicts = judgeAll(q, measured)
	for i := range rec.Verdicts {
		rec.Verdicts[i].ClientBound = rec.Verdicts[i].ClientBound || r.nearCeiling(rec.Verdicts[i])
	}
	rec.Ranks, rec.Cells, rec.Trials = nil, nil, nil
	best := bestTrials(measured)
	for _, level := range q.levels {
		for _, name := range q.metrics {
			m, known := measure(string(name))
			if rank, ok := q.rank(measured, level, m); known && ok {
				rec.Ranks = append(rec.Ranks, rank)
			}
		}
		for _, m := range Measures {
			rec.Cells = append(rec.Cells, q.cellsOf(best, m, level)...)
		}
	}
	rec.Parts = parts(q, best)
	for _, t := range r.trials {
		rec.Trials = append(rec.Trials, t.brief())
	}
	rec.Sampler = samplerCost(r.trials)
	rec.Published = beside(rec, r.Experiment.Published)
	rec.Cautions = cautions(r)
	return r.store.write(experimentFile, rec)
}

// cellsOf are the medians of all arms at a level by one measure.
func (q question) cellsOf(best map[cellRound]*Trial, m Measure, level string) (all []Cell) {
	for _, arm := range q.arms {
		values := valuesOf(best, m, arm.name, level)
		v, err := stats.MedianInterval(values, 0.95)
		if err == nil {
			all = append(all, Cell{arm.name, level, m.Name, m.Unit, v, len(values)})
		}
	}
	return all
}

// parts are the medians of what each process used, in the order in which trials
// name them.
func parts(q question, best map[cellRound]*Trial) (all []Part) {
	for _, level := range q.levels {
		for _, arm := range q.arms {
			var names []string
			used := map[string][]result.Usage{}
			for _, round := range rounds(best) {
				t := best[cellRound{arm.name, level, round}]
				if t == nil {
					continue
				}
				for _, u := range t.Server {
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
		if t.Sampler != nil && t.Sampler.Share.OK() {
			shares = append(shares, float64(t.Sampler.Share))
		}
	}
	if len(shares) == 0 {
		return nil
	}
	m := stats.Median(shares)
	return &m
}

// nearCeiling reports whether a figure of throughput is near what the generator
// reaches at all.
func (r *running) nearCeiling(c Comparison) bool {
	top := r.record.ceilingOf(c.Level)
	if c.Metric != "throughput" || top == 0 {
		return false
	}
	m, _ := measure(c.Metric)
	best := bestTrials(r.trials)
	for _, arm := range []string{c.Baseline, c.Variant} {
		if v := valuesOf(best, m, arm, c.Level); len(v) > 0 && stats.Median(v) > nearCeiling*top {
			return true
		}
	}
	return false
}

func (t *Trial) brief() Brief {
	b := Brief{ID: t.ID, Slot: t.Slot, Attempt: t.Attempt, Started: t.Started, Grade: t.Grade,
		Reasons: t.Reasons, Failure: t.Failure, Values: map[string]float64{}}
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
		b := Beside{Figure: f, Ours: r.median(f.Variant, f.Level, string(f.Metric))}
		base := r.baselineOf(f.Variant)
		if base != f.Variant {
			b.Ratio = ratio(f.Value, published(base, f))
			b.OursRatio = ratio(b.Ours, r.median(base, f.Level, string(f.Metric)))
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

func (r *Record) median(arm, level, metric string) *float64 {
	for _, c := range r.Cells {
		if c.Arm == arm && c.Level == level && c.Metric == metric {
			return &c.Median.Estimate
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
func cautions(r *running) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, c := range r.record.Verdicts {
		if c.Control && c.Verdict == stats.Different {
			say("%s differs from itself in %s at %s by a factor of %.3f [%.3f, %.3f]: this machine "+
				"does not support comparisons that fine now", c.Baseline, c.Metric, c.Level, c.Ratio, c.Low,
				c.High)
		}
	}
	d := r.Experiment.Design
	if !r.record.CPUs.Apart {
		say("generator and servers share CPUs: %s", r.record.CPUs.Reason)
	}
	switch {
	case d.Order == experiment.Sequential:
		say("the trials ran one cell after the other: whatever changed meanwhile looks like a difference")
	case d.Isolation == experiment.Shared:
		say("servers stayed up over all rounds: what differs from one start to the next was drawn once")
	}
	if d.Rounds < minimum {
		say("%d rounds give no 95 %% interval, so that nothing can be shown to be different; it takes %d",
			d.Rounds, minimum)
	}
	if n := countGrade(r.trials, GradeF); n > 0 {
		say("%d of %d trials are of grade F: see their reasons", n, len(r.trials))
	}
	if s := notSteady(r.trials); s != "" {
		say("no steady state, or a slowdown, in trials of %s", s)
	}
	return all
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
