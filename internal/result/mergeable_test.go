package result

import (
	"strings"
	"testing"
)

// What Merge cannot add up is found in the part that it is of, before the others are added to it.
func TestMergeable(t *testing.T) {
	for want, spoil := range map[string]func(*Result){
		"":                         func(*Result) {},
		"does not add up":          func(r *Result) { r.Requests.Sent++ },
		"the latency histogram":    func(r *Result) { r.Latency.HDR = "AAAA" },
		"the service histogram":    func(r *Result) { r.Service.Count++ },
		"the first byte histogram": func(r *Result) { r.Phases.FirstByte = &Distribution{Count: -1} },
		"is not among those":       func(r *Result) { r.Latency.Over.Answered *= 2 },
		"its mean is 1e+300":       func(r *Result) { r.Latency.Mean = 1e300 },
		"its mean is -1":           func(r *Result) { r.Latency.Mean = -1 },
	} {
		all, _ := parts(t, 3)
		spoil(all[1])
		err := all[1].Mergeable()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err := all[0].Mergeable(); err != nil {
			t.Errorf("another part: %v", err)
		}
	}
}
