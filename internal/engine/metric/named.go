package metric

import (
	"cmp"
	"slices"
)

// A Named is a counter or a histogram that a script defined.
type Named struct {
	Name      string
	Sum       float64    // of a counter: what was added
	Histogram *Histogram // Fine, in thousandths of the values; nil: it is a counter
}

// AddNamed returns all, in the order of their names, with those of another worker or generator.
// What has the same name in both is added up, unless one is a counter and the other a histogram:
// then the first is kept.
func AddNamed(all, more []Named) []Named {
	for _, one := range more {
		i, known := slices.BinarySearchFunc(all, one.Name, func(n Named, name string) int {
			return cmp.Compare(n.Name, name)
		})
		if !known {
			sum := Named{Name: one.Name}
			if one.Histogram != nil {
				sum.Histogram = NewHistogram(Fine)
			}
			all = slices.Insert(all, i, sum)
		}
		all[i].Sum += one.Sum
		if all[i].Histogram != nil && one.Histogram != nil {
			all[i].Histogram.Merge(one.Histogram)
		}
	}
	return all
}
