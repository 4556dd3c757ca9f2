package labanswer

import (
	"cmp"
	"maps"
	"slices"

	"dyno/internal/view/format"
)

// mostFrequent are the reasons of trials, those of one kind together and the most frequent kind
// first: "4 trials: the machine's host took 5.7 to 15.9 % of its time". counted says how many
// trials have which text.
func mostFrequent(counted map[string]int) (all []string) {
	texts, trials := map[string][]string{}, map[string]int{}
	for _, text := range slices.Sorted(maps.Keys(counted)) {
		kind := format.ReasonKind(text)
		texts[kind], trials[kind] = append(texts[kind], text), trials[kind]+counted[text]
	}
	kinds := slices.Sorted(maps.Keys(texts))
	slices.SortStableFunc(kinds, func(a, b string) int { return cmp.Compare(trials[b], trials[a]) })
	for _, kind := range kinds {
		all = append(all, format.Plural(int64(trials[kind]), "trial")+": "+
			format.MergeReasons(texts[kind]))
	}
	return all
}
