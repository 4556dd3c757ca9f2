package lab

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"dyno/experiment"
	"dyno/result"
	"dyno/stats"
)

// A Comparison is what the trials of two arms at one level say of one measure.
// It is a row of the verdict table, whose keys others rely on.
type Comparison struct {
	Metric   string        `json:"metric"`
	Level    string        `json:"level"`
	Baseline string        `json:"baseline"`
	Variant  string        `json:"variant"`
	Ratio    float64       `json:"ratio"` // of the variant to the baseline
	Low      float64       `json:"low"`   // of its 95 % interval
	High     float64       `json:"high"`
	Verdict  stats.Verdict `json:"verdict"`
	Trials   int           `json:"trials"`                    // pairs of them, or runs of the variant
	Against  int           `json:"baseline_trials,omitempty"` // runs of the baseline; 0: pairs

	Confidence float64 `json:"confidence"` // that the interval really has: less than 0.95 of few
	P          float64 `json:"p"`
	Q          float64 `json:"q"`               // Benjamini-Hochberg, over all that is compared
	PHolm      float64 `json:"p_holm"`          // Holm, likewise
	Margin     float64 `json:"margin"`          // share that a difference has to reach to matter
	Floor      float64 `json:"floor,omitempty"` // by which the baseline may differ from itself
	Better     int     `json:"better"`          // 1: more is; -1: less is
	More       int     `json:"more_rounds,omitempty"`

	Control     bool `json:"control,omitempty"`      // the A/A arm
	ClientBound bool `json:"client_bound,omitempty"` // by the generator: not the server's figure
	GradeF      int  `json:"grade_f,omitempty"`      // pairs that rest on a trial of grade F
	Missing     int  `json:"missing,omitempty"`      // rounds in which an arm measured nothing
}

// Worse reports whether the variant is, as far as the verdict says.
func (c Comparison) Worse() bool {
	return c.Verdict == stats.Different && (c.Ratio-1)*float64(c.Better) < 0
}

// place is what is compared, and where.
func (c Comparison) place() string {
	s := c.Metric + " of " + c.Variant
	if c.Level != "" {
		s += " at " + c.Level
	}
	return s
}

// A question is which measures are compared, of whom, and how much counts.
type question struct {
	metrics []experiment.Metric
	margin  float64
	levels  []string
	arms    []contender
}

// A contender is an arm, and with which it is compared; "" for none.
type contender struct {
	name, baseline string
	control        bool
}

// judgeAll is the verdict table: by level, then measure, then arm, controls
// first, because what they show is the noise of all that follow.
func judgeAll(q question, trials []*Trial) []Comparison {
	cells := sortTrials(trials)
	var all []Comparison
	for _, level := range q.levels {
		for _, name := range q.metrics {
			if m, known := measure(string(name)); known {
				all = append(all, q.compare(cells, m, level)...)
			}
		}
	}
	correct(all)
	return all
}

// compare judges every arm at a level by one measure.
func (q question) compare(cells byCell, m Measure, level string) []Comparison {
	var controls, others []Comparison
	floor := map[string]float64{} // by baseline
	for _, arm := range q.arms {
		if !arm.control {
			continue
		}
		p := pair(cells, m, level, arm.baseline, arm.name)
		if len(p.logs) >= minimum {
			floor[arm.baseline], _ = stats.NoiseFloor(p.logs)
		}
		if c, ok := p.judge(stats.Margin{Practical: q.margin}); ok {
			c.Control = true
			controls = append(controls, c)
		}
	}
	for _, arm := range q.arms {
		if arm.control || arm.baseline == "" {
			continue
		}
		margin := stats.Margin{Practical: q.margin, Floor: floor[arm.baseline]}
		if c, ok := pair(cells, m, level, arm.baseline, arm.name).judge(margin); ok {
			others = append(others, c)
		}
	}
	return append(controls, others...)
}

// correct fills in the p-values that take into account how many there are. The
// control is not one of those: it has no difference to find.
func correct(all []Comparison) {
	var p []float64
	for _, c := range all {
		if !c.Control {
			p = append(p, c.P)
		}
	}
	holm, q := stats.Holm(p), stats.BenjaminiHochberg(p)
	k := 0
	for i := range all {
		if all[i].Control {
			all[i].Q, all[i].PHolm = all[i].P, all[i].P
			continue
		}
		all[i].Q, all[i].PHolm = q[k], holm[k]
		k++
	}
}

// A cellRound is where a trial belongs.
type cellRound struct {
	arm, level string
	round      int
}

// A byCell has the attempts at each trial.
type byCell map[cellRound][]*Trial

func sortTrials(trials []*Trial) byCell {
	cells := byCell{}
	for _, t := range trials {
		at := cellRound{t.Arm, t.Level, t.Round}
		cells[at] = append(cells[at], t)
	}
	return cells
}

// best is the trial that counts: of two attempts the better graded, else the
// first; nil if there is none. None is ever left out for its value.
func (cells byCell) best(arm, level string, round int) (best *Trial) {
	for _, t := range cells[cellRound{arm, level, round}] {
		if best == nil || t.Grade < best.Grade {
			best = t
		}
	}
	return best
}

// pair is the trials of two arms that are compared: of one attempt, so that no
// more time lies between them than a round takes.
func (cells byCell) pair(arm, baseline, level string, round int) (a, b *Trial) {
	worst := Grade("")
	for _, x := range cells[cellRound{arm, level, round}] {
		for _, y := range cells[cellRound{baseline, level, round}] {
			if g := max(x.Grade, y.Grade); x.Attempt == y.Attempt && (a == nil || g < worst) {
				a, b, worst = x, y, g
			}
		}
	}
	return a, b
}

// rounds are those of which there are trials, in order.
func (cells byCell) rounds() []int {
	seen := map[int]bool{}
	for at := range cells {
		seen[at.round] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// A paired is the trials of two arms, round by round.
type paired struct {
	Comparison
	logs []float64
}

func pair(cells byCell, m Measure, level, baseline, arm string) *paired {
	p := &paired{Comparison: Comparison{Metric: m.Name, Level: level, Baseline: baseline,
		Variant: arm, Better: m.Better}}
	for _, round := range cells.rounds() {
		a, b := cells.pair(arm, baseline, level, round)
		if a == nil || b == nil {
			continue
		}
		x, ok := m.Of(a)
		y, also := m.Of(b)
		if !ok || !also {
			p.Missing++
			continue
		}
		p.logs = append(p.logs, math.Log(x/y))
		if a.Grade == GradeF || b.Grade == GradeF {
			p.GradeF++
		}
		if m.Name != "cpu" && (a.clientBound() || b.clientBound()) {
			p.ClientBound = true
		}
	}
	return p
}

func (t *Trial) clientBound() bool {
	return t.Result != nil && t.Result.Generator.Verdict == result.ClientBound
}

// judge is the comparison, if there is a pair at all.
func (p *paired) judge(margin stats.Margin) (Comparison, bool) {
	j, err := stats.Judge(p.logs, margin)
	if err != nil {
		return Comparison{}, false
	}
	c := p.Comparison
	c.take(j, margin)
	c.Trials = len(p.logs)
	return c, true
}

// take makes the comparison say what a judgement does.
func (c *Comparison) take(j stats.Judgement, margin stats.Margin) {
	c.Ratio, c.Low, c.High = j.Ratio.Estimate, j.Ratio.Low, j.Ratio.High
	c.Confidence, c.Verdict, c.P, c.More = j.Ratio.Level, j.Verdict, j.P, j.More
	c.Margin = margin.Practical
	c.Floor = margin.Floor
}

// narrow reports whether every primary ratio is known to within the precision.
func (q question) narrow(trials []*Trial, precision float64) bool {
	cells := sortTrials(trials)
	for _, level := range q.levels {
		for _, name := range q.metrics {
			m, known := measure(string(name))
			for _, arm := range q.arms {
				if !known || arm.baseline == "" {
					continue
				}
				logs := pair(cells, m, level, arm.baseline, arm.name).logs
				if len(logs) > 0 && stats.MoreRounds(logs, precision) > 0 {
					return false
				}
			}
		}
	}
	return true
}

// A Rank is the arms at a level by one measure, best first. Arms that share a
// letter are not told apart by the trials.
type Rank struct {
	Level  string   `json:"level"`
	Metric string   `json:"metric"`
	Arms   []string `json:"arms"`
	Groups []string `json:"groups"` // letters, of each
}

// rank orders arms by their medians, and groups those that cannot be told apart.
func (q question) rank(trials []*Trial, level string, m Measure) (Rank, bool) {
	cells := sortTrials(trials)
	median := map[string]float64{}
	for _, arm := range q.arms {
		if values := valuesOf(cells, m, arm.name, level); len(values) > 0 && !arm.control {
			median[arm.name] = stats.Median(values)
		}
	}
	arms := slices.SortedStableFunc(maps.Keys(median), func(a, b string) int {
		return cmp.Or(cmp.Compare(median[a], median[b])*-m.Better, cmp.Compare(a, b))
	})
	if len(arms) < 2 {
		return Rank{}, false
	}
	margin := stats.Margin{Practical: q.margin}
	for _, arm := range q.arms { // no finer than what an arm differs from itself
		logs := pair(cells, m, level, arm.baseline, arm.name).logs
		if floor, err := stats.NoiseFloor(logs); arm.control && err == nil && len(logs) >= minimum {
			margin.Floor = max(margin.Floor, floor)
		}
	}
	apart := func(i, j int) bool {
		c, ok := pair(cells, m, level, arms[i], arms[j]).judge(margin)
		return ok && c.Verdict == stats.Different
	}
	return Rank{level, m.Name, arms, stats.TieGroups(len(arms), apart)}, true
}

// valuesOf are an arm's at a level, by round.
func valuesOf(cells byCell, m Measure, arm, level string) (all []float64) {
	for _, round := range cells.rounds() {
		if t := cells.best(arm, level, round); t != nil {
			if v, ok := m.Of(t); ok {
				all = append(all, v)
			}
		}
	}
	return all
}
