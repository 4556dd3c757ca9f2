package design

import (
	"cmp"
	"slices"

	"dyno/internal/lab/experiment"
)

// ladderLeast is how many rates make a curve.
const ladderLeast = 3

// Ladder returns open levels that differ in nothing but their rate and their name, by rate: the
// first such group of three rates or more; nil if there is none.
func Ladder(levels []experiment.Level) (rungs []experiment.Level) {
	for _, first := range levels {
		if first.Rate == 0 {
			continue
		}
		rungs = slices.DeleteFunc(slices.Clone(levels), func(l experiment.Level) bool {
			open := l.Rate > 0
			l.Name, l.Rate = first.Name, first.Rate
			return !open || l != first
		})
		slices.SortStableFunc(rungs, func(a, b experiment.Level) int {
			return cmp.Compare(a.Rate, b.Rate)
		})
		rungs = slices.CompactFunc(rungs, func(a, b experiment.Level) bool { return a.Rate == b.Rate })
		if len(rungs) >= ladderLeast {
			return rungs
		}
	}
	return nil
}
