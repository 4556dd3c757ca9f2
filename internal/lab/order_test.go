package lab

import (
	"fmt"
	"slices"
	"testing"

	"dyno/internal/lab/experiment"
)

// Each round has each cell once, in another order; the same seed has the same.
func TestOrder(t *testing.T) {
	var cells []CellKey
	for i := range 10 {
		cells = append(cells, CellKey{fmt.Sprint(i), "l"})
	}
	var seen [][]Slot
	for round := 1; round <= 50; round++ {
		slots := OrderRound(experiment.Interleaved, 42, round, cells)
		again := OrderRound(experiment.Interleaved, 42, round, cells)
		if !slices.Equal(slots, again) {
			t.Fatal("not the same again")
		}
		arms := map[string]bool{}
		for i, s := range slots {
			arms[s.Arm] = true
			if s.Round != round || s.Position != i+1 {
				t.Errorf("%+v", s)
			}
		}
		if len(arms) != 10 {
			t.Errorf("round %d: %v", round, slots)
		}
		seen = append(seen, slots)
	}
	first := map[string]int{}
	for _, slots := range seen {
		first[slots[0].Arm]++
	}
	if len(first) < 8 { // of 10, in 50 rounds: fewer has a chance below 10⁻⁶
		t.Errorf("first were only %v", first)
	}
	if there, back := OrderRound(experiment.ABBA, 1, 1, cells), OrderRound(experiment.ABBA, 1, 2, cells); there[0].Arm != "0" || back[0].Arm != "9" {
		t.Error("abba does not turn round")
	}
}
