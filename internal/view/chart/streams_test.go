package chart

import (
	"math"
	"strings"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
	"dyno/internal/result/streamed"
	"dyno/internal/view/payload"
)

// A run of streams has its first events and gaps over time, and rain; others have none of these.
func TestStreamViews(t *testing.T) {
	r := &result.Result{Window: result.Window{MeasuredS: 3}, Series: []result.Point{
		{T: 1, StreamTimes: loadresult.StreamTimes{FirstP50US: 100e3, FirstP99US: 300e3, GapP50US: 20e3, GapP99US: 40e3}}, {T: 2},
		{T: 3, StreamTimes: loadresult.StreamTimes{GapP50US: 25e3, GapP99US: 500e3}}}}
	r.Stream = &streamed.Stream{Samples: []streamed.Sample{{Due: 0.1, Each: 1, Arrivals: []int64{100e3, 120e3, 140e3}},
		{Due: 1, Each: 8, Arrivals: []int64{300e3}}, {Due: 2, Each: 1}}}
	all := Run(payload.Run{Result: r})
	gaps, err := Find(all, "gaps")
	if err != nil || len(gaps.Marks) != 2 || !math.IsNaN(gaps.Marks[1].Points[1].Y) || gaps.Marks[1].Points[2] != (Point{X: 3, Low: 2, Y: 500e3}) {
		t.Errorf("%+v, %v", gaps.Marks, err)
	}
	begins, err := Find(all, "first-events")
	if err != nil || begins.Marks[0].Points[0].Y != 100e3 || !math.IsNaN(begins.Marks[0].Points[2].Y) {
		t.Errorf("%+v, %v", begins.Marks, err)
	}
	rain, err := Find(all, "rain")
	if err != nil || len(rain.Marks) != 2 || len(rain.Marks[0].Points) != 2 || rain.Marks[1].Points[1] != (Point{X: 0.3, Y: 2}) {
		t.Errorf("%+v, %v", rain.Marks, err)
	}
	if foot := strings.Join(rain.Foot, "; "); !strings.Contains(foot, "n = 3 streams") || !strings.Contains(foot, "one arrival in 8") {
		t.Error(foot)
	}
	curves := []payload.Spectrum{{Of: "stream.first_event", Name: "first event", Points: [][2]float64{{0, 1e3}, {0.5, 2e3}}},
		{Of: "stream.gap", Name: "gap", Points: [][2]float64{{0, 10}, {0.5, 20}}}}
	spectrum, err := Find(Run(payload.Run{Result: r, Spectra: curves}), "spectrum")
	if err != nil || len(spectrum.Marks) != 2 || spectrum.Marks[1].Name != "gap" {
		t.Errorf("%+v, %v", spectrum.Marks, err)
	}
	r.Stream.Samples, r.Series = nil, r.Series[1:2]
	for _, name := range []string{"gaps", "first-events", "rain"} {
		if v, err := Find(Run(payload.Run{Result: r}), name); err != nil || v.Empty == "" {
			t.Errorf("%s of nothing: %+v, %v", name, v, err)
		}
	}
	r.Stream = nil
	if _, err := Find(Run(payload.Run{Result: r}), "rain"); err == nil {
		t.Error("a run without streams has rain")
	}
}
