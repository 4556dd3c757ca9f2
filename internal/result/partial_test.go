package result

import (
	"testing"

	"dyno/internal/engine/load"
)

// A run that ended before it was to, or without all who made its load, is not a whole one.
func TestPartial(t *testing.T) {
	whole := &Fleet{Agents: []Agent{{Name: "a"}, {Name: "b"}}}
	lost := &Fleet{Agents: []Agent{{Name: "a", Lost: "no sign of life"}, {Name: "b"}, {Name: "c", Lost: "left"}}}
	for _, test := range []struct {
		ended load.Ending
		fleet *Fleet
		want  string
	}{
		{load.ByDuration, nil, ""}, {load.ByRequests, nil, ""}, {load.ByDuration, whole, ""},
		{load.Interrupted, nil, "interrupted"}, {load.Interrupted, whole, "interrupted"},
		{load.Aborted, nil, "aborted"}, {load.Gone, nil, "server gone"},
		{load.Unreachable, nil, "unreachable"}, {load.Lost, whole, "LOST an agent"},
		{load.Lost, lost, "LOST agent a, agent c"}, {load.ByDuration, lost, "LOST agent a, agent c"},
	} {
		r := &Result{Ended: string(test.ended), Observed: Observed{Fleet: test.fleet}}
		if got := r.Partial(); got != test.want {
			t.Errorf("%s: %q, want %q", test.ended, got, test.want)
		}
	}
}
