package probe

import (
	"math"
	"sort"
)

// maxRows is how many rows a table holds: 205 s at 200 ms before it thins.
const maxRows = 1024

// A kind is how a column's readings become a series.
type kind int

const (
	gauge   kind = iota // the reading itself
	counter             // growth per second, times the column's scale
	share               // growth in percent of the growth of all columns of this kind
)

// A column is one reading: what it is called, and how it is shown.
type column struct {
	name, unit string
	kind       kind
	scale      float64 // of a counter; 0 is 1
}

// A table is readings that are taken at the same instants. Counters are stored
// as they are read, cumulative, so thinning costs resolution and nothing else.
type table struct {
	columns []column
	at      []float64 // s after the start, ascending
	values  [][]float64
	stride  int // of the rows added, every stride-th is kept
	added   int
}

func newTable(columns []column) *table {
	return &table{columns: columns, values: make([][]float64, len(columns)), stride: 1}
}

// addRow appends a row. The newest row is always there; when the table is full,
// every other of the rest is given up.
func (t *table) addRow(now float64, row ...float64) {
	if last := len(t.at) - 1; last > 0 && (t.added-1)%t.stride != 0 {
		t.at = t.at[:last]
		for i := range t.values {
			t.values[i] = t.values[i][:last]
		}
	}
	if len(t.at) == maxRows {
		t.thinRows()
	}
	t.added++
	t.at = append(t.at, now)
	for i := range t.values {
		t.values[i] = append(t.values[i], row[i])
	}
}

func (t *table) thinRows() {
	t.at = everyOther(t.at)
	for i := range t.values {
		t.values[i] = everyOther(t.values[i])
	}
	t.stride *= 2
}

func everyOther(x []float64) []float64 {
	for i := 0; i < len(x); i += 2 {
		x[i/2] = x[i]
	}
	return x[:(len(x)+1)/2]
}

// zeroRow is the row of counters that begin; gauges have no beginning, and what is n/a
// in the row after is n/a before.
func (t *table) zeroRow(after []float64) []float64 {
	row := make([]float64, len(after))
	for i := range row {
		row[i] = after[i] * 0
		if t.columns[i].kind == gauge {
			row[i] = math.NaN()
		}
	}
	return row
}

// valueAt interpolates column i at an instant; before the first reading and after the
// last it is that reading. It is NaN if a reading beside the instant is.
func (t *table) valueAt(i int, instant float64) float64 {
	values := t.values[i]
	right := sort.SearchFloat64s(t.at, instant)
	switch {
	case len(values) == 0:
		return math.NaN()
	case right == len(values):
		return values[right-1]
	case right == 0:
		return values[0]
	}
	left := right - 1
	part := (instant - t.at[left]) / (t.at[right] - t.at[left])
	return values[left] + part*(values[right]-values[left])
}

// newest is the last reading of column i; NaN if there is none.
func (t *table) newest(i int) float64 {
	if len(t.at) == 0 {
		return math.NaN()
	}
	return t.values[i][len(t.at)-1]
}

// growthOf is how much counter i grew between two instants.
func (t *table) growthOf(i int, from, to float64) float64 {
	return t.valueAt(i, to) - t.valueAt(i, from)
}

// levelOf is the mean and the peak of gauge i between two instants, of the readings
// within; if there is none, the last before, or else the first after.
func (t *table) levelOf(i int, from, to float64) (mean, peak float64) {
	sum, n := 0.0, 0
	beside := math.NaN()
	peak = math.Inf(-1)
	for k, v := range t.values[i] {
		switch at := t.at[k]; {
		case math.IsNaN(v):
		case at < from, at > to && n == 0 && math.IsNaN(beside):
			beside = v
		case at <= to:
			sum += v
			n++
			peak = max(peak, v)
		}
	}
	if n == 0 {
		return beside, beside
	}
	return sum / float64(n), peak
}

// tableSeries are the columns as they are shown. A rate needs the row before, so all
// start at the second, unless there are only gauges.
func (t *table) tableSeries(of Series) []Series {
	skip := 0
	for _, c := range t.columns {
		if c.kind != gauge {
			skip = 1
		}
	}
	skip = min(skip, len(t.at))
	var all []Series
	for i, c := range t.columns {
		s := of
		s.Name += c.name
		s.Unit = c.unit
		s.T = t.at[skip:]
		s.V = make([]float64, len(s.T))
		for k := range s.V {
			s.V[k] = t.shownValue(i, k+skip)
		}
		all = append(all, s)
	}
	return all
}

// shownValue is the value of column i in row k as a series has it.
func (t *table) shownValue(i, k int) float64 {
	c, values := t.columns[i], t.values[i]
	switch c.kind {
	case counter:
		rate := (values[k] - values[k-1]) / (t.at[k] - t.at[k-1])
		if c.scale != 0 {
			rate *= c.scale
		}
		return rate
	case share:
		return 100 * (values[k] - values[k-1]) / t.sharedGrowth(t.at[k-1], t.at[k])
	default:
		return values[k]
	}
}

// sharedGrowth is the growth of all columns that are shares of a whole.
func (t *table) sharedGrowth(from, to float64) float64 {
	sum := 0.0
	for i, c := range t.columns {
		if c.kind == share {
			if d := t.growthOf(i, from, to); !math.IsNaN(d) {
				sum += d
			}
		}
	}
	return sum
}

// columnIndex finds a column by its name, -1 if there is none.
func (t *table) columnIndex(name string) int {
	for i, c := range t.columns {
		if c.name == name {
			return i
		}
	}
	return -1
}
