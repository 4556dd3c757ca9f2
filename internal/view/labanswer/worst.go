package labanswer

import (
	"math"
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/say"
	"dyno/internal/view/answer"
)

// isSeen reports whether users of a server see a measure: how long it takes, or how much they get.
// What it costs the server they do not.
func isSeen(metric string) bool {
	m, known := lab.MeasureNamed(metric)
	return known && m.DependsOnLoad() && m.Name != lab.InFlight
}

// clearlyWorse is by which factor the logarithm of a difference is larger than another before it is
// said first: closed loads have one difference in several measures.
const clearlyWorse = 1.5

// sureSize is the logarithm of the difference that a comparison shows at least: of the end of its
// interval that is nearer to no difference.
func sureSize(c lab.Comparison) float64 {
	if !(c.Low > 0) || c.Low <= 1 && c.High >= 1 {
		return 0
	}
	return min(math.Abs(math.Log(c.Low)), math.Abs(math.Log(c.High)))
}

// worstFirst puts the findings by which a variant is worse first, if users see any of them, and
// before these the one that is clearly worst for users.
func worstFirst(r *lab.Record, decided []placed) []placed {
	size := func(p placed) float64 { return sureSize(r.Verdicts[p.Comparison]) }
	seen := func(p placed) bool { return p.Verdict == answer.Worse && isSeen(p.metric) }
	if !slices.ContainsFunc(decided, seen) {
		return decided
	}
	all := slices.Clone(decided)
	slices.SortStableFunc(all, func(x, y placed) int { return rank(x.Finding) - rank(y.Finding) })
	worst := 0
	for i, p := range all {
		if seen(p) && size(p) > clearlyWorse*size(all[0]) && size(p) > size(all[worst]) {
			worst = i
		}
	}
	return slices.Concat(all[worst:worst+1], all[:worst], all[worst+1:])
}

// rank is 0 of what is worse, else 1.
func rank(f answer.Finding) int {
	if f.Verdict == answer.Worse {
		return 0
	}
	return 1
}

// worstGroup puts the group first by which the only variant of all groups is clearly worst for
// users. Of several variants a sentence names what speaks against the first measure.
func worstGroup(r *lab.Record, all []answer.Group) []answer.Group {
	worst, most := 0, 0.0
	size := func(f answer.Finding) float64 { return sureSize(r.Verdicts[f.Comparison]) }
	for i, g := range all {
		if len(g.Findings) != 1 {
			return all
		}
		f := g.Findings[0]
		if f.Verdict != answer.Worse || !isSeen(g.Metric) || size(f) <= most {
			continue
		}
		if first := all[0].Findings[0]; rank(first) > 0 || size(f) > clearlyWorse*size(first) {
			worst, most = i, size(f)
		}
	}
	return slices.Concat(all[worst:min(worst+1, len(all))], all[:worst], all[min(worst+1, len(all)):])
}

// pooledNotes say that a percentile is of all trials of a variant together.
func pooledNotes(r *lab.Record, g answer.Group) []string {
	least := int64(0)
	for _, f := range g.Findings {
		if n := r.Verdicts[f.Comparison].Pooled; n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	tail, is := lab.TailOf(g.Metric)
	if least == 0 || !is {
		return nil
	}
	return []string{say.Plain(fact.PooledPercentile{Percent: 100 * tail.Quantile, Requests: least,
		Needs: tail.Least()})}
}
