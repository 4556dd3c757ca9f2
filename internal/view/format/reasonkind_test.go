package format

import "testing"

// Reasons of one kind are one text with the range of each amount. Codes and percentiles are no
// amounts.
func TestMergeReasons(t *testing.T) {
	for _, c := range []struct {
		all  []string
		want string // "": they are of different kinds
	}{
		{[]string{"nothing"}, "nothing"},
		{[]string{"took 6.2 % of its time", "took 15.9 % of its time", "took 9 % of its time"},
			"took 6.2 to 15.9 % of its time"},
		{[]string{"used at least 62 % of the CPUs", "used at least 25 % of the CPUs", "used at least 40 % of the CPUs"},
			"used at least 25 % of the CPUs, in the worst trial 62 %"},
		{[]string{"used at least 25 % of the CPUs", "used at least 25 % of the CPUs"}, "used at least 25 % of the CPUs"},
		{[]string{"9 of 10 were late", "8 of 10 were late"}, "8 to 9 of 10 were late"},
		{[]string{"999 bytes", "1,000 bytes"}, "999 to 1,000 bytes"},
		{[]string{"status was 200 and is 404 in 3 trials", "status was 200 and is 404 in 2 trials"},
			"status was 200 and is 404 in 2 to 3 trials"},
		{[]string{"status was 200 and is 404", "status was 200 and is 503"}, ""},
		{[]string{"p99 of 5 ms", "p95 of 5 ms"}, ""},
		{[]string{"answered 503 (12)", "answered 429 (12)"}, ""},
	} {
		same := true
		for _, s := range c.all {
			same = same && ReasonKind(s) == ReasonKind(c.all[0])
		}
		switch {
		case same != (c.want != ""):
			t.Errorf("%q: of one kind: %v", c.all, same)
		case same && MergeReasons(c.all) != c.want:
			t.Errorf("%q: %q", c.all, MergeReasons(c.all))
		}
	}
}
