package result

import (
	"testing"

	"dyno/internal/engine/loadresult"
)

// A run that ended before it was to, or without all who made its load, is not a whole one.
func TestPartial(t *testing.T) {
	whole := &Fleet{Agents: []Agent{{Name: "a"}, {Name: "b"}}}
	lost := &Fleet{Agents: []Agent{{Name: "a", Lost: "no sign of life"}, {Name: "b"}, {Name: "c", Lost: "left"}}}
	for _, test := range []struct {
		ended loadresult.Ending
		fleet *Fleet
		want  string
	}{
		{loadresult.ByDuration, nil, ""}, {loadresult.ByRequests, nil, ""}, {loadresult.ByDuration, whole, ""},
		{loadresult.Interrupted, nil, "interrupted"}, {loadresult.Interrupted, whole, "interrupted"},
		{loadresult.Aborted, nil, "aborted"}, {loadresult.Gone, nil, "server gone"},
		{loadresult.Unreachable, nil, "unreachable"}, {loadresult.Lost, whole, "LOST an agent"},
		{loadresult.Lost, lost, "LOST agent a, agent c"}, {loadresult.ByDuration, lost, "LOST agent a, agent c"},
	} {
		r := &Result{Ended: string(test.ended), Observed: Observed{Fleet: test.fleet}}
		if got := r.Partial(); got != test.want {
			t.Errorf("%s: %q, want %q", test.ended, got, test.want)
		}
	}
}
