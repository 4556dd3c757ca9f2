package probe

import (
	"math"
	"testing"
)

// Work that keeps step with a kernel's ticks is met by each of them, or by none. In both cases a
// quarter of two CPUs' time is work, as the idle time says.
func TestWorkInStepWithTicks(t *testing.T) {
	const second = 1e9
	for _, c := range []struct {
		name      string
		user, sys float64 // s of the CPUs' 2, as ticks have it
		want      [2]float64
	}{
		{"met by none", 0, 0, [2]float64{0.4, 0.1}}, // divided as all ticks since the start
		{"met by each", 1.5, 0.5, [2]float64{0.375, 0.125}},
		{"exact", 0.3, 0.2, [2]float64{0.3, 0.2}},
	} {
		var w cpuWhole
		row := []float64{80 * second, 20 * second, 0, 0, 500 * second, 0, math.NaN()}
		w.complete(row, 2, 1000*second)
		for i := 1.0; i <= 10; i++ {
			row = []float64{(80 + c.user*i) * second, (20 + c.sys*i) * second, 0, 0,
				(500 + 1.5*i) * second, 0, math.NaN()}
			w.complete(row, 2, (1000+i)*second)
		}
		for i, want := range []float64{80 + 10*c.want[0], 20 + 10*c.want[1], 0, 0, 515} {
			if math.Abs(row[i]/second-want) > 1e-6 {
				t.Errorf("%s: %s is %v s, want %v", c.name, cpuColumns[i].name, row[i]/second, want)
			}
		}
		if !math.IsNaN(row[6]) {
			t.Errorf("%s: %s is %v", c.name, cpuColumns[6].name, row[6])
		}
	}
}

// Times that are rounded to ticks neither take work back nor add to it.
func TestWorkOfRoundedTimes(t *testing.T) {
	var w cpuWhole
	last, row := 0.0, make([]float64, len(cpuColumns))
	for ms := 0.0; ms <= 60_000; ms += 240 { // half of the time is idle
		row = []float64{math.Floor(ms/20) * tick, 0, 0, 0, math.Floor(ms/20) * tick, 0, 0}
		w.complete(row, 1, ms*1e6)
		if row[0] < last {
			t.Fatalf("%v ms of work after %v", row[0]/1e6, last/1e6)
		}
		last = row[0]
	}
	if math.Abs(last/1e6-30_000) > 20 {
		t.Errorf("%v ms of work in 30 s", last/1e6)
	}
}

// A kernel that counts no ticks, or does not say of how many CPUs, is repeated as it is.
func TestWorkOfNoTicks(t *testing.T) {
	for _, cpus := range []int{0, 4} {
		var w cpuWhole
		for at := range 3 {
			row := make([]float64, len(cpuColumns))
			w.complete(row, cpus, float64(at)*1e9)
			for i, n := range row {
				if n != 0 {
					t.Errorf("%d CPUs: %s is %v", cpus, cpuColumns[i].name, n)
				}
			}
		}
	}
}
