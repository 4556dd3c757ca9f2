package report

import (
	"strings"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
	"dyno/internal/result/streamed"
	"dyno/internal/view/reporttest"
)

// A code that only some seconds had is a column of all.
func TestCSVHasCodes(t *testing.T) {
	r := reporttest.Closed()
	r.Series = []result.Point{{T: 1, Status: map[string]int64{"503": 2, "200": 7}}, {T: 2},
		{T: 3, Status: map[string]int64{"200": 1}}}
	var b strings.Builder
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"bytes_sent,status.200,status.503", "0,7,2", "0,0,0", "0,1,0"} {
		if line := strings.Split(b.String(), "\n")[i]; !strings.HasSuffix(line, want) {
			t.Errorf("line %d is %q, and should end in %q", i, line, want)
		}
	}
}

// Seconds of streams have columns of their events, tokens and times; a second without one has no time.
func TestCSVHasStreams(t *testing.T) {
	r := reporttest.Closed()
	r.Stream = &streamed.Stream{}
	r.Series = []result.Point{{T: 1, Events: 40, StreamTimes: loadresult.StreamTimes{FirstP50US: 200e3,
		FirstP99US: 412.5e3, GapP50US: 20100, GapP99US: 21e3, Tokens: 44}}, {T: 2}}
	var b strings.Builder
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{",events,first_event_p50_us,first_event_p99_us,gap_p50_us,gap_p99_us,tokens",
		"1,0,0,0,,,,,0,0,0,40,200000,412500,20100,21000,44", "2,0,0,0,,,,,0,0,0,0,,,,,0"} {
		if line := strings.Split(b.String(), "\n")[i]; !strings.HasSuffix(line, want) {
			t.Errorf("line %d is %q, and should end in %q", i, line, want)
		}
	}
}
