package loadresult

import (
	"fmt"
	"testing"
)

// However many ways to fail there are, so many are told apart, and the count of each phase is exact.
func TestFewer(t *testing.T) {
	var all []Failure
	want := map[Phase]int64{}
	for i := range 5000 {
		f := Failure{Phase: Phases[i%len(Phases)], Kind: "k", Address: fmt.Sprint(i), Count: int64(5000 - i), Detail: "d"}
		if i%100 == 0 {
			f.Detail = "another"
		}
		all = append(all, f)
		want[f.Phase] += f.Count
	}
	const most = 1000
	few := Fewer(all, most)
	for range 3 { // more of what was not told apart, and of what was
		few = Fewer(mergeFailures(few, all), most)
	}
	got, others := map[Phase]int64{}, map[Phase]bool{}
	for _, f := range few {
		got[f.Phase] += f.Count
		if f.Kind == OtherWays {
			if others[f.Phase] {
				t.Errorf("%s has others twice", f.Phase)
			}
			if others[f.Phase] = true; f.Detail != "failures of further kinds, counted as one" {
				t.Errorf("others of %s: %q", f.Phase, f.Detail)
			}
		}
	}
	for phase, n := range want {
		if got[phase] != 4*n || !others[phase] {
			t.Errorf("%s: %d of %d", phase, got[phase], 4*n)
		}
	}
	if len(few) != most+len(Phases) || few[0].Count != 4*5000 {
		t.Errorf("%d ways, the first %+v", len(few), few[0])
	}
	if len(all) != 5000 || all[4999].Count != 1 {
		t.Error("what was given was changed")
	}
	if same := Fewer(all[:most], most); len(same) != most || same[most-1].Kind != "k" {
		t.Errorf("%d of %d", len(same), most)
	}
}

// Failures of many ways add up as those of a few do: by what a user would tell apart.
func TestMergeFailures(t *testing.T) {
	var to, from []Failure
	for i := range 300 {
		of := Failure{Phase: Phases[i%len(Phases)], Kind: fmt.Sprint(i % 3), Address: fmt.Sprint(i % 50), Count: 1,
			Detail: fmt.Sprint(i)}
		if i%2 == 0 {
			to = mergeFailures(to, []Failure{of})
		} else {
			from = append(from, of)
		}
	}
	sum := mergeFailures(to, from)
	seen, n := map[way]bool{}, int64(0)
	for i, f := range sum {
		if n += f.Count; seen[f.way()] || i > 0 && CompareFrequency(sum[i-1], f) > 0 {
			t.Errorf("%+v is there twice, or in a wrong place", f)
		}
		seen[f.way()] = true
	}
	if n != 300 {
		t.Errorf("%d of 300", n)
	}
}
