package chart

import (
	"fmt"
	"slices"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/stats"
	"dyno/internal/view/payload"
)

// Axes have ticks where people look for them: round ones, within the axis, and not too many.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		got  []float64
		want string
	}{
		{logTicks(40, 6000, 8), "[50 100 200 500 1000 2000 5000]"},
		{logTicks(40, 6000, 4), "[100 300 1000 3000]"},
		{logTicks(0.5, 4e7, 4), "[1 100 10000 1e+06]"},
		{ratioTicks(0.89, 1.16, 9), "[0.9 0.95 1 1.05 1.1 1.15]"},
		{ratioTicks(0.89, 1.16, 5), "[0.9 1 1.1]"},
		{ratioTicks(0.3, 1.5, 8), "[0.4 0.6 0.8 1 1.2 1.4]"},
		{ratioTicks(0.1, 20, 9), "[0.125 0.25 0.5 1 2 4 8 16]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	for _, ends := range [][2]float64{{0.97, 1.03}, {0.5, 2}, {0.01, 1.1}, {1e-6, 1e6}, {0.9999, 1.0001}} {
		for _, most := range []int{3, 5, 9} {
			if ticks := ratioTicks(ends[0], ends[1], most); !slices.Contains(ticks, 1) || len(ticks) > most {
				t.Errorf("%v to %v has %v, at most %d", ends[0], ends[1], ticks, most)
			}
		}
	}
	texts := ""
	for _, tick := range append(ticksIn("µs", []float64{100, 1500, 10_000}), percentileAxis(0.999).Ticks[3]) {
		texts += tick.Text + "; "
	}
	if texts != "100 µs; 1.5 ms; 10 ms; 90; " {
		t.Errorf("they are written %q", texts)
	}
}

// A last second whose sample comes late is a second of the window, with a rate by its own length;
// what came after the window has none.
func TestRatedIntervals(t *testing.T) {
	for _, c := range []struct {
		measured float64
		ends     []float64
		want     int
	}{
		{3, []float64{1, 2, 3.0016}, 3}, {3, []float64{1.02, 2.05, 3.08, 3.5}, 3},
		{3, []float64{1, 2, 2.9995, 3.9}, 3}, {3, []float64{1, 2, 3, 3.0004}, 3},
		{3.2, []float64{1, 2, 3, 3.2, 9}, 4}, {0.002, []float64{0.004}, 1},
	} {
		r := &result.Result{Window: result.Window{MeasuredS: c.measured}}
		for _, end := range c.ends {
			r.Series = append(r.Series, result.Point{T: end, Sent: 100})
		}
		over := ratedIntervals(r)
		if len(over) != c.want {
			t.Errorf("of a window of %v and ends at %v, %d are rated, want %d", c.measured, c.ends, len(over), c.want)
		}
		last := over[len(over)-1]
		rate := perSecond(over, func(p *result.Point) int64 { return p.Sent })[len(over)-1].Y
		if want := 100 / (last.point.T - last.from); rate != want {
			t.Errorf("the last of %v has the rate %v, want %v", c.ends, rate, want)
		}
	}
}

// A bar of CPU time ends at the median of the whole, divided as the parts' medians are; a tree is
// not counted beside its processes; what cannot be divided is one bar.
func TestBarsOfCost(t *testing.T) {
	part := func(name string, cpu, user, system float64) lab.ProcessUse {
		return lab.ProcessUse{Arm: "go", Level: "c10", Name: name, CPU: probe.Value(cpu), User: probe.Value(user),
			System: probe.Value(system)}
	}
	for _, c := range []struct {
		whole float64 // 0: not known
		parts []lab.ProcessUse
		want  string
	}{
		{15.8 * 2, []lab.ProcessUse{part("", 15.3, 6.3, 9.5)}, "[all 0-12.6 all 12.6-31.6]"},
		{19, []lab.ProcessUse{part("", 20, 8, 11), part("nginx", 15, 6, 8), part("nginx: worker", 14, 6, 8), part("go", 6, 2, 3)},
			"[nginx: worker 0-6.0 nginx: worker 6.0-14.0 go 14.0-16.0 go 16.0-19.0]"},
		{0, []lab.ProcessUse{part("", 15.3, 6, 9)}, "[all 0-6.0 all 6.0-15.0]"},
	} {
		e := experiment{&payload.Experiment{Record: new(lab.Record), Levels: []payload.Level{{Name: "c10"}}}}
		e.Record.Arms, e.Record.Parts = []lab.Arm{{Name: "go"}}, c.parts
		if c.whole > 0 {
			e.Record.Cells = []lab.Cell{{Arm: "go", Level: "c10", Metric: "cpu", Median: stats.Interval{Estimate: c.whole}}}
		}
		var bars []string
		for _, m := range e.costView(0).Marks {
			if m.Kind == Rect {
				from := "0"
				if m.Points[0].X > 0 {
					from = fmt.Sprintf("%.1f", m.Points[0].X)
				}
				bars = append(bars, fmt.Sprintf("%s %s-%.1f", m.Name, from, m.Points[1].X))
			}
		}
		if got := fmt.Sprint(bars); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
