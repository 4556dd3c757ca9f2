package probe

import (
	"math"
	"slices"
	"testing"
)

const second = 1e9

// ended is the last of the rows that are read once a second, for ten seconds, each completed. The
// CPUs' times per second are those of each, in seconds.
func ended(first, each []float64, cpus int) []float64 {
	var w cpuWhole
	var row []float64
	for i := range 11 {
		row = slices.Clone(first)
		for k := range row {
			row[k] = (row[k] + each[k]*float64(i)) * second
		}
		w.complete(row, cpus, float64(1000+i)*second)
	}
	for k := range row {
		row[k] /= second
	}
	return row
}

// A quarter of two CPUs' time is work, as the idle time says, whether the ticks met all of it or
// nothing.
func TestWorkInStepWithTicks(t *testing.T) {
	na := math.NaN()
	for _, c := range []struct {
		name              string
		first, each, want []float64
	}{
		{"met by none", []float64{80, 20, 0, 0, 500, 0, na}, []float64{0, 0, 0, 0, 1.5, 0, na},
			[]float64{84, 21, 0, 0, 515, 0, na}}, // divided as since boot
		{"met by each", []float64{80, 20, 0, 0, 500, 0, na}, []float64{1, 0.6, 0.4, 0, 1.5, 0, na},
			[]float64{82.5, 21.5, 1, 0, 515, 0, na}},
		{"exact", []float64{80, 20, 0, 0, 500, 0, 0}, []float64{0.3, 0.1, 0, 0, 1.3, 0.2, 0.1},
			[]float64{83, 21, 0, 0, 513, 2, 1}},
		{"interrupts are exact", []float64{80, 20, 7, 3, 500, 0, 0}, []float64{0.6, 0.4, 0.1, 0.1, 1.5, 0, 0},
			[]float64{81.8, 21.2, 8, 4, 515, 0, 0}},
	} {
		for i, got := range ended(c.first, c.each, 2) {
			if want := c.want[i]; math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) >= 1e-6 {
				t.Errorf("%s: %s is %v s, want %v", c.name, cpuColumns[i].name, got, c.want[i])
			}
		}
	}
}

// Times that are rounded to ticks neither take work back nor add to it.
func TestWorkOfRoundedTimes(t *testing.T) {
	var w cpuWhole
	last, until := 0.0, 60_000.0
	for ms := 0.0; ms <= until; ms += 7 { // half of the time is idle
		half := math.Floor(ms/20) * tick
		row := []float64{half, 0, 0, 0, half, 0, 0}
		w.complete(row, 1, ms*1e6)
		if row[0] < last {
			t.Fatalf("%v ms of work after %v", row[0]/1e6, last/1e6)
		}
		last = row[0]
	}
	if math.Abs(last/1e6-until/2) > 3*tick/1e6 {
		t.Errorf("%v ms of work in %v", last/1e6, until)
	}
}

// A counter that jumps spoils one reading, and not those after it.
func TestWorkAfterAJump(t *testing.T) {
	for _, jump := range []float64{-3600 * second, 3600 * second} {
		var w cpuWhole
		row := make([]float64, len(cpuColumns))
		for i := range 20 {
			idle := 5000*second + 1.5*float64(i)*second
			if i >= 10 {
				idle += jump
			}
			before := row[0]
			row = []float64{0.5 * float64(i) * second, 0, 0, 0, idle, 0, 0}
			w.complete(row, 2, float64(i)*second)
			if grown := row[0] - before; i > 10 && math.Abs(grown-0.5*second) > 1 || grown < 0 ||
				grown > 2.1*second {
				t.Errorf("jump of %v s: %v s of work in second %d", jump/second, grown/second, i)
			}
		}
	}
}

// A row stays as it is where nothing is counted, and where nobody says how many CPUs there are.
func TestWorkThatNobodyCounts(t *testing.T) {
	still := []float64{80, 20, 0, 0, 500, 0, 0}
	for i, got := range ended(still, make([]float64, len(still)), 4) {
		if got != still[i] {
			t.Errorf("%s is %v", cpuColumns[i].name, got)
		}
	}
	for i, got := range ended(make([]float64, len(still)), still, 0) {
		if got != still[i]*10 {
			t.Errorf("of no CPUs %s is %v", cpuColumns[i].name, got)
		}
	}
}
