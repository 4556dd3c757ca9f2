package judge

import (
	"dyno/internal/lab"
	"slices"
	"strings"
	"testing"

	"dyno/internal/stats"
)

// What differs from itself comes first, and hides nothing else that was found.
func TestDecide(t *testing.T) {
	compare := func(variant string, v stats.Verdict, control bool) lab.Comparison {
		return lab.Comparison{Metric: "p50", Variant: variant, Verdict: v, Ratio: 0.5, Better: 1, Control: control,
			Confidence: 0.95}
	}
	self := compare("base", stats.Different, true)
	bad, open := compare("slow", stats.Different, false), compare("odd", stats.Inconclusive, false)
	for _, test := range []struct {
		all     []lab.Comparison
		verdict string
		open    []string // how each begins
	}{
		{[]lab.Comparison{bad}, lab.Regression, nil},
		{[]lab.Comparison{bad, open}, lab.Regression, []string{"p50 of odd: "}},
		{[]lab.Comparison{open}, lab.Undecided, []string{"p50 of odd: "}},
		{[]lab.Comparison{self, bad, open}, lab.Undecided, []string{"p50 of base: it differs from itself",
			"p50 of slow: worse by a factor of 0.500", "p50 of odd: "}},
		{[]lab.Comparison{self, self}, lab.Undecided, []string{"p50 of base, p50 of base: each differs from itself"}},
		{[]lab.Comparison{compare("base", stats.Equivalent, true)}, lab.Passed, nil},
	} {
		verdict, why := decideBatch(test.all)
		if same := slices.EqualFunc(why, test.open, strings.HasPrefix); verdict != test.verdict || !same {
			t.Errorf("%s: %q, want %s: %q", verdict, why, test.verdict, test.open)
		}
	}
}
