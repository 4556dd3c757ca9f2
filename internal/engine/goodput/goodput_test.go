package goodput

import "testing"

func TestLimits(t *testing.T) {
	for text, want := range map[string]string{
		"latency<500ms": "", "first_event<500ms, token_time<=60ms,gap.max<1s": "", "ttft<1s,tpot<20ms": "",
		"":                          `"" is no limit of a request, as latency<500ms`,
		"latency>1s":                `"latency>1s" is no limit of a request, as latency<500ms`,
		"gap.p99<1s":                `"gap.p99" is not one of latency, first_event, token_time, gap.max; a single request has no percentile, and of its gaps there is gap.max`,
		"latency<5":                 `a duration with its unit is wanted behind latency<, as 500ms, not "5"`,
		"latency<1s,latency<2s":     `latency has two limits`,
		"first_event<1s,ttft<500ms": `first_event has two limits`,
	} {
		if _, err := Parse(text); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	l, err := Parse("latency<1us,first_event<=500ns,gap.max<100ns")
	if err != nil {
		t.Fatal(err)
	}
	for times, want := range map[Times]bool{
		{999, 500, -1, 99}: true, {1000, 500, -1, 99}: false, {999, 501, -1, 99}: false, {999, 500, -1, 100}: false,
		{999, -1, 0, 0}: false, {0, 0, 0, 0}: true,
	} {
		if l.Met(&times) != want {
			t.Errorf("%v: met is %v", times, !want)
		}
	}
	if l.OfStreams() == nil || (Limits{{of: Latency}}).OfStreams() != nil {
		t.Error("limits of streams")
	}
}
