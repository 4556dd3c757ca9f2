package say

import (
	"testing"

	"dyno/internal/fact"
)

// In few words it is said why requests were sent again, if it was one reason.
func TestRetried(t *testing.T) {
	one := func(why string, n, least, most int64) fact.Retry {
		return fact.Retry{Method: "GET", Why: why, Count: n, Least: least, Most: most}
	}
	for want, of := range map[string][]fact.Retry{
		"3,926 retried: the server closes a connection after 20 requests":    {one("closed", 3_926, 20, 20)},
		"4 retried: the server closes a connection after 1 request":          {one("announced", 3, 1, 1), one("announced", 1, 1, 1)},
		"2 retried: the server closed a connection after 20 requests":        {one("closed", 2, 20, 20)},
		"5 retried: the server closed connections after 7 to 1,020 requests": {one("closed", 2, 20, 1_020), one("closed", 3, 7, 20)},
		"5 retried after a close":   {one("closed", 2, 20, 20), one("unsent", 3, 20, 20)},
		"9 retried":                 {one("closed", 4, 20, 20), one("refused", 5, 2, 2)},
		"3 retried after a close":   {one("closed", 1, 0, 0), one("closed", 2, 20, 20)},
		"7 retried after a close":   {one("closed", 7, 0, 0)},
		"8 retried after a close":   {one("unsent", 8, 20, 20)},
		"6 retried after a refusal": {one("refused", 6, 2, 2)},
	} {
		all := fact.Retries{Of: of}
		for _, r := range of {
			all.Count += r.Count
		}
		if got := Retried(all); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Retried(fact.Retries{}); got != "" {
		t.Errorf("of none: %q", got)
	}
}
