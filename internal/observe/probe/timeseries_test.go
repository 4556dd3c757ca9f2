package probe

import (
	"math"
	"testing"
)

func TestTableWindows(t *testing.T) {
	table := newTable([]column{{name: "c", kind: counter}, {name: "g"}})
	n := math.NaN()
	for _, row := range [][3]float64{{1, 100, n}, {2, 200, 5}, {3, 400, 9}, {4, n, 7}} {
		table.addRow(row[0], row[1], row[2])
	}
	for _, c := range []struct{ from, to, growth, mean, peak float64 }{
		{1, 3, 300, 7, 9},
		{1.5, 2.5, 150, 5, 5},
		{0, 2, 100, 5, 5},     // before the first reading there was nothing to count
		{2.1, 2.9, 160, 5, 5}, // no reading within: the last before
		{1, 1.5, 50, 5, 5},    // none before either: the first after
		{1, 4, n, 7, 9},       // the last is n/a
		{3.5, 9, n, 7, 7},
	} {
		if got := table.growthOf(0, c.from, c.to); !same(got, c.growth) {
			t.Errorf("growth %v to %v: %v, want %v", c.from, c.to, got, c.growth)
		}
		if mean, peak := table.levelOf(1, c.from, c.to); !same(mean, c.mean) || !same(peak, c.peak) {
			t.Errorf("level %v to %v: %v, %v, want %v, %v", c.from, c.to, mean, peak, c.mean, c.peak)
		}
	}
	if empty := newTable(detailColumns); !math.IsNaN(empty.growthOf(0, 0, 1)) {
		t.Error("growth of nothing is a number")
	}
}

func same(a, b float64) bool {
	return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b)
}

// An hour at five a second stays within the bound, evenly spread, with its last
// reading, and what a counter grew is what it grew.
func TestTableThins(t *testing.T) {
	table := newTable([]column{{name: "c", kind: counter, scale: 2}, {name: "a", kind: share},
		{name: "b", kind: share}})
	const n = 18_000
	for i := range n {
		x := float64(i)
		table.addRow(x/5, x*10, x, 3*x)
		if len(table.at) > maxRows {
			t.Fatalf("%d rows", len(table.at))
		}
		if table.at[len(table.at)-1] != x/5 {
			t.Fatalf("the last of %d rows is that of %v s", len(table.at), table.at[len(table.at)-1])
		}
	}
	if len(table.at) < maxRows/2 {
		t.Errorf("only %d rows are left", len(table.at))
	}
	for i := 2; i < len(table.at)-1; i++ {
		if gap := table.at[i] - table.at[i-1]; !same(gap, table.at[1]-table.at[0]) {
			t.Fatalf("a gap of %v s at row %d, the first is %v s", gap, i, table.at[1])
		}
	}
	if got := table.growthOf(0, 100, 3000); !same(got, 2900*50) {
		t.Errorf("growth %v, want %v", got, 2900*50)
	}
	for _, s := range table.tableSeries(Series{Name: "x."}) {
		want := map[string]float64{"x.c": 100, "x.a": 25, "x.b": 75}[s.Name]
		for i, v := range s.V {
			if !same(v, want) {
				t.Fatalf("%s is %v at %v, want %v", s.Name, v, s.T[i], want)
			}
		}
	}
}

func TestAppendNumber(t *testing.T) {
	for _, c := range []struct {
		x        float64
		decimals int
		want     string
	}{
		{1.23456, 2, "1.23"}, {100, 2, "100"}, {-0.001, 2, "0"}, {1.5e9, 0, "1500000000"},
		{math.NaN(), 2, "null"}, {math.Inf(1), 0, "null"}, {0.1 + 0.2, 3, "0.3"},
		{1e21, 0, "1000000000000000000000"},
	} {
		if got := string(appendNumber(nil, c.x, c.decimals)); got != c.want {
			t.Errorf("%v: %s, want %s", c.x, got, c.want)
		}
	}
}
