package loadresult

import "testing"

// Waits of one length add up. Of too many lengths the longest are taken for the shorter ones that are
// known, so that nothing that is kept is untrue and nothing is lost.
func TestUnansweredAddsUp(t *testing.T) {
	var u Unanswered
	for _, w := range []Wait{{After: 5, Requests: 2, Slots: 9}, {Requests: 1, Begun: 1}, {After: 5, Requests: 1, SlotsBegun: 4}} {
		u.Add(w)
	}
	if len(u) != 2 || u[0] != (Wait{After: 5, Requests: 3, Slots: 9, SlotsBegun: 4}) || u[1] != (Wait{Requests: 1, Begun: 1}) {
		t.Errorf("%+v", u)
	}
	for _, after := range []int64{1, -1} { // ascending and descending
		var many Unanswered
		for i := range int64(100) {
			many.Add(Wait{After: 1000 + after*i, Requests: 1})
		}
		many.Add(Wait{Requests: 7})
		var n, drain int64
		for _, w := range many {
			if n += w.Requests; w.After == 0 {
				drain = w.Requests
			} else if w.After < 901 || after > 0 && w.After < 1000 {
				t.Errorf("%+v", w)
			}
		}
		if len(many) > WaitsMost || n != 107 || drain != 7 {
			t.Errorf("%d, %d requests, %d until the end of the drain", len(many), n, drain)
		}
	}
}
