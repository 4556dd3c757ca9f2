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
// then the first is kept. The histograms of the sum take no more memory than a Sparse, because
// other machines say what names there are: nothing can be recorded in them.
func AddNamed(all, more []Named) []Named {
	var scratch *Histogram
	for _, one := range more {
		i, known := slices.BinarySearchFunc(all, one.Name, func(n Named, name string) int {
			return cmp.Compare(n.Name, name)
		})
		if !known {
			all = slices.Insert(all, i, Named{Name: one.Name, Sum: one.Sum})
			if one.Histogram != nil {
				all[i].Histogram = one.Histogram.ToSparse().Histogram(Fine)
			}
			continue
		}
		all[i].Sum += one.Sum
		if all[i].Histogram != nil && one.Histogram != nil {
			if scratch == nil {
				scratch = NewHistogram(Fine)
			}
			sum := scratch.SumOf(all[i].Histogram.ToSparse(), one.Histogram.ToSparse())
			all[i].Histogram = sum.Histogram(Fine)
		}
	}
	return all
}
