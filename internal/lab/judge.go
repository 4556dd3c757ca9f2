package lab

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// A Comparison is what the trials of two arms at one level say of one measure.
// It is a row of the verdict table, whose keys others rely on.
type Comparison struct {
	Metric   string        `json:"metric"`
	Level    string        `json:"level"`
	Baseline string        `json:"baseline"`
	Variant  string        `json:"variant"`
	Ratio    float64       `json:"ratio"` // of the variant to the baseline
	Low      float64       `json:"low"`   // of its 95 % interval, which holds with all others
	High     float64       `json:"high"`
	Verdict  stats.Verdict `json:"verdict"`
	Trials   int           `json:"trials"`                    // pairs of them, or runs of the variant
	Against  int           `json:"baseline_trials,omitempty"` // runs of the baseline; 0: pairs

	Confidence float64 `json:"confidence"`      // that the interval really has: less than 0.95 of few
	P          float64 `json:"p"`               // of this comparison alone
	PAdjusted  float64 `json:"p_adjusted"`      // corrected for all: the verdict's
	Q          float64 `json:"q"`               // Benjamini-Hochberg, over all that is compared
	PHolm      float64 `json:"p_holm"`          // Holm, likewise
	Margin     float64 `json:"margin"`          // share that a difference has to reach to matter
	Floor      float64 `json:"floor,omitempty"` // by which the baseline may differ from itself
	Better     int     `json:"better"`          // 1: more is; -1: less is
	More       int     `json:"more_rounds,omitempty"`

	Alone stats.Interval `json:"alone"` // of this comparison, were it the only one

	Control     bool `json:"control,omitempty"`      // the A/A arm
	ClientBound bool `json:"client_bound,omitempty"` // by the generator's limit: not the server's
	Disturbed   int  `json:"disturbed,omitempty"`    // pairs, or runs, in which it was held up
	OtherLoad   int  `json:"other_load,omitempty"`   // likewise: the load was not the one asked for
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
	return judgeThese(q, trials, func(Comparison) bool { return true })
}

// judgeThese is judgeAll of what is to be kept, and of controls: nothing else is
// looked at, so nothing else needs correcting for.
func judgeThese(q question, trials []*Trial, keep func(Comparison) bool) []Comparison {
	all := slices.DeleteFunc(q.pairs(sortTrials(trials)), func(p *paired) bool {
		return !p.Control && !keep(p.Comparison)
	})
	judgeTogether(all)
	table := make([]Comparison, len(all))
	for i, p := range all {
		table[i] = p.Comparison
	}
	return table
}

// pairs are all that is compared of these trials, in the order of the table.
func (q question) pairs(cells byCell) (all []*paired) {
	for _, level := range q.levels {
		for _, name := range q.metrics {
			if m, known := measure(string(name)); known {
				all = append(all, q.pairsBy(cells, m, level)...)
			}
		}
	}
	return all
}

// pairsBy has every arm at a level by one measure.
func (q question) pairsBy(cells byCell, m Measure, level string) (all []*paired) {
	floor := map[string]float64{} // by baseline
	for _, control := range []bool{true, false} {
		for _, arm := range q.arms {
			if arm.control != control || arm.baseline == "" {
				continue
			}
			p := pair(cells, m, level, arm.baseline, arm.name)
			p.Control, p.margin = control, stats.Margin{Practical: q.margin}
			if !control {
				p.margin.Floor = floor[arm.baseline]
			} else if len(p.logs) >= minimum {
				floor[arm.baseline], _ = stats.NoiseFloor(p.logs)
			}
			if len(p.logs) > 0 {
				all = append(all, p)
			}
		}
	}
	return all
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
	margin stats.Margin
	logs   []float64 // of the rounds in which both measured it
	row    []float64 // of all rounds, NaN where it is missing
}

func pair(cells byCell, m Measure, level, baseline, arm string) *paired {
	p := &paired{Comparison: Comparison{Metric: m.Name, Level: level, Baseline: baseline,
		Variant: arm, Better: m.Better}}
	for _, round := range cells.rounds() {
		p.row = append(p.row, math.NaN())
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
		p.row[len(p.row)-1] = math.Log(x / y)
		p.logs = append(p.logs, math.Log(x/y))
		if a.Grade == GradeF || b.Grade == GradeF {
			p.GradeF++
		}
		p.doubt(m, a, b)
	}
	return p
}

// doubt notes what kept the generator from a value of m in trials that belong together: its
// limit, what held it up, or a load that was not the one asked for. None of it bears on what is
// counted of a request.
func (c *Comparison) doubt(m Measure, trials ...*Trial) {
	bound := func(to func(result.Kind) bool) bool {
		return m.ofLoad() && slices.ContainsFunc(trials, func(t *Trial) bool {
			return t.Result != nil && to(t.Result.Generator.Bound())
		})
	}
	if bound(func(k result.Kind) bool { return k == result.Limit }) {
		c.ClientBound = true
	} else if bound(func(k result.Kind) bool { return k == result.HeldUp }) {
		c.Disturbed++
	} else if bound(func(k result.Kind) bool { return k != "" }) {
		c.OtherLoad++
	}
}

// take makes the comparison say what a judgement does.
func (c *Comparison) take(j stats.Judgement, margin stats.Margin) {
	c.Ratio, c.Low, c.High = j.Ratio.Estimate, j.Ratio.Low, j.Ratio.High
	c.Confidence, c.Verdict, c.More = j.Ratio.Level, j.Verdict, j.More
	c.P, c.PAdjusted = j.P, j.Adjusted
	c.Margin = margin.Practical
	c.Floor = margin.Floor
}

// A Rank is the arms at a level by one measure, best first. Arms that share a
// letter are not told apart by the trials.
type Rank struct {
	Level  string   `json:"level"`
	Metric string   `json:"metric"`
	Arms   []string `json:"arms"`
	Groups []string `json:"groups"` // letters, of each
}

// ranks has every level by every measure. Which arms can be told apart is what the
// verdicts say of those that are compared, and for all other pairs the same test,
// corrected for all pairs that there are.
func (q question) ranks(trials []*Trial, verdicts []Comparison) (all []Rank) {
	cells := sortTrials(trials)
	var pairs []*paired
	for _, level := range q.levels {
		for _, name := range q.metrics {
			m, _ := measure(string(name)) // a test holds that all can be measured
			rank, ok := q.rank(cells, level, m)
			if !ok {
				continue
			}
			all = append(all, rank)
			pairs = append(pairs, q.duels(cells, rank, m)...)
		}
	}
	apart := toldApart(pairs, verdicts)
	for i, r := range all {
		all[i].Groups = stats.TieGroups(len(r.Arms), func(i, j int) bool {
			return apart[duel{r.Level, r.Metric, r.Arms[i], r.Arms[j]}]
		})
	}
	return all
}

// rank orders arms by their medians.
func (q question) rank(cells byCell, level string, m Measure) (Rank, bool) {
	median := map[string]float64{}
	for _, arm := range q.arms {
		if values := valuesOf(cells, m, arm.name, level); len(values) > 0 && !arm.control {
			median[arm.name] = stats.Median(values)
		}
	}
	arms := slices.SortedStableFunc(maps.Keys(median), func(a, b string) int {
		return cmp.Or(cmp.Compare(median[a], median[b])*-m.Better, cmp.Compare(a, b))
	})
	return Rank{Level: level, Metric: m.Name, Arms: arms}, len(arms) > 1
}

// duels are all pairs of a rank's arms.
func (q question) duels(cells byCell, r Rank, m Measure) (all []*paired) {
	margin := stats.Margin{Practical: q.margin}
	for _, arm := range q.arms { // no finer than what an arm differs from itself
		logs := pair(cells, m, r.Level, arm.baseline, arm.name).logs
		if floor, err := stats.NoiseFloor(logs); arm.control && err == nil && len(logs) >= minimum {
			margin.Floor = max(margin.Floor, floor)
		}
	}
	for i, a := range r.Arms {
		for _, b := range r.Arms[i+1:] {
			p := pair(cells, m, r.Level, a, b)
			p.margin = margin
			all = append(all, p)
		}
	}
	return all
}

// A duel is two arms, in the order of their rank.
type duel struct{ level, metric, one, other string }

// toldApart are those of the pairs that differ.
func toldApart(pairs []*paired, verdicts []Comparison) map[duel]bool {
	var rows [][]float64
	for _, p := range pairs {
		rows = append(rows, p.row)
	}
	apart := map[duel]bool{}
	for i, p := range stats.MaxT(rows) {
		c := pairs[i]
		v, err := stats.HodgesLehmann(c.logs, confidence)
		least := math.Log1p(max(c.margin.Practical, c.margin.Floor))
		apart[duel{c.Level, c.Metric, c.Baseline, c.Variant}] = err == nil && p <= significance &&
			math.Abs(v.Estimate) >= least
	}
	for _, c := range verdicts {
		if !c.Control {
			differ := c.Verdict == stats.Different
			apart[duel{c.Level, c.Metric, c.Baseline, c.Variant}] = differ
			apart[duel{c.Level, c.Metric, c.Variant, c.Baseline}] = differ
		}
	}
	return apart
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
