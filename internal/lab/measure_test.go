package lab

import (
	"testing"

	"dyno/internal/result"
)

// Bytes are divided by all answers that arrived with them, also those to requests that had waited
// since the warm-up.
func TestBytesOfAnAnswer(t *testing.T) {
	r := &result.Result{Window: result.Window{MeasuredS: 1}}
	r.Series = []result.Point{{T: 1, Completed: 1000, Received: 118_000}, {T: 1.4, Completed: 50}}
	r.Requests.WarmupInWindow = 180
	m, _ := MeasureNamed("bytes")
	if got, ok := m.Value(&Trial{Result: r}); !ok || got != 100 {
		t.Errorf("%g bytes an answer, want 100", got)
	}
}
