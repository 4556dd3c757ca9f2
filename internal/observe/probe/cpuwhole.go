package probe

import "math"

// The columns of cpuColumns in which a CPU works are first: user and system, then interrupts.
const (
	processColumns = 2
	workColumns    = 4
)

// roundedBy is how far a sum of times can be off, because each is rounded to ticks.
const roundedBy = 5 * tick

// atBoot is the reading at boot.
var atBoot = make([]float64, len(cpuColumns))

// A cpuWhole makes the times of all CPUs add up to the time that passed. Example: a server is busy
// for 29 % of the time with 500 evenly spaced requests a second. The kernel looks at its ticks, 250
// a second, for what a CPU does. Each tick then falls into a request, or none does, and the kernel
// counts 56 % or 1 %.
//
// How long a CPU was idle, waited for a disk, or was stolen, most kernels do not count at ticks. So
// work is the time that remains, and the ticks only divide it. Kernels with IRQ_TIME_ACCOUNTING do
// not count interrupts at ticks either. On the others the column irq stays 0.
type cpuWhole struct {
	at     float64   // of the last reading that counted something, in ns
	first  []float64 // readings in ns, as they were read
	last   []float64
	shown  []float64 // times of work, as complete returned them last
	divide int       // so many columns are counted at ticks, from the first on
	early  float64   // work that was shown too early, in ns: times are rounded, or read late
}

// complete changes the times of work in a row of cpuColumns. cpus is how many CPUs are online, and
// at is when the row was read, in ns. A row stays as it is if cpus is 0. While nothing was counted,
// it has the work that was shown last.
func (c *cpuWhole) complete(row []float64, cpus int, at float64) {
	switch {
	case cpus == 0:
		return
	case c.first == nil:
		c.begin(row, at)
		return
	}
	exact := growth(row[c.divide:], c.last[c.divide:])
	if exact == 0 && growth(row[:c.divide], c.last) == 0 {
		copy(row, c.shown)
		return
	}
	passed := float64(cpus) * (at - c.at)
	remains := passed - exact - c.early
	if c.early = max(-remains, 0); c.early > passed+roundedBy { // a counter jumped
		c.early = 0
	}
	copy(c.last[c.divide:], row[c.divide:])
	c.addWork(row[:c.divide], min(max(remains, 0), passed+roundedBy))
	c.at = at
}

func (c *cpuWhole) begin(row []float64, at float64) {
	c.at, c.divide = at, workColumns
	if row[workColumns-1] > 0 {
		c.divide = processColumns
	}
	c.first, c.last = append(c.first, row...), append(c.last, row...)
	c.shown = append(c.shown, row[:c.divide]...)
}

// addWork divides work as the ticks since the last reading were divided. If there were none, it
// takes those since the first reading, and then all.
func (c *cpuWhole) addWork(row []float64, work float64) {
	for _, from := range [...][]float64{c.last, c.first, atBoot} {
		ticks := 0.0
		for i, n := range row {
			ticks += max(known(n-from[i]), 0)
		}
		if ticks == 0 {
			continue
		}
		for i, n := range row {
			c.shown[i] += work * max(known(n-from[i]), 0) / ticks
		}
		break
	}
	copy(c.last, row)
	copy(row, c.shown)
}

// growth is how much the columns of a row grew together. from can be longer.
func growth(row, from []float64) (sum float64) {
	for i, n := range row {
		sum += known(n - from[i])
	}
	return sum
}

// known is x, or 0 where it is not known.
func known(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}
