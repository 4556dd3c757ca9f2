package payload

import (
	"testing"

	"dyno/internal/lab"
	"dyno/internal/result"
)

// The last second of a trial's window is drawn also when its sample comes late, and what was
// measured after the window is not.
func TestLastSecondOfATrial(t *testing.T) {
	for _, test := range []struct {
		ends []float64
		want int
	}{
		{[]float64{1, 2, 3}, 3}, {[]float64{1, 2, 3.02}, 3}, {[]float64{1, 2, 3.02, 4}, 3},
		{[]float64{1, 2, 2.99, 3.9}, 3}, {[]float64{1, 2, 3, 3.001}, 3},
	} {
		r := &result.Result{Window: result.Window{MeasuredS: 3}}
		for _, end := range test.ends {
			r.Series = append(r.Series, result.Point{T: end, Completed: 100})
		}
		if got := startupOf(&lab.Trial{Result: r}).Window.At; len(got) != test.want {
			t.Errorf("of samples at %v, %d are seconds of a window of 3 s, want %d", test.ends, len(got),
				test.want)
		}
	}
}
