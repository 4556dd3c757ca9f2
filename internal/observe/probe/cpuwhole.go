package probe

import "math"

// The columns of cpuColumns in which a CPU worked come first, up to this number.
const workColumns = 4

// A cpuWhole makes the times of all CPUs add up to the time that passed. Most kernels count exactly
// only how long a CPU was idle, waited for a disk, or was stolen. What it did otherwise they ask at
// their ticks, often 250 a second. Work that keeps step with the ticks, such as 500 evenly spaced
// requests a second, is met by each of them or by none: a machine that is busy for 25 % of the time
// then counts 1 % or 56 %. So the work is what is left of the time, and the ticks only divide it
// into user, system and interrupts.
type cpuWhole struct {
	at     float64   // of the last reading, in ns
	passed float64   // on all CPUs since the first reading, in ns
	first  []float64 // readings in ns, as they were read
	last   []float64
	shown  []float64 // the work, as it is shown
	worked float64   // sum of the work since the first reading
}

// complete changes the work in a row of cpuColumns, which a kernel with so many CPUs has read at an
// instant in ns. It does nothing if the kernel has none of the CPUs' own lines, or counts no ticks.
func (c *cpuWhole) complete(row []float64, cpus int, at float64) {
	if cpus == 0 {
		return
	}
	if c.first == nil {
		c.first, c.last = append(c.first, row...), append(c.last, row...)
		c.shown, c.at = append(c.shown, row[:workColumns]...), at
		return
	}
	c.passed += float64(cpus) * (at - c.at)
	c.at = at
	rest := 0.0
	for i := workColumns; i < len(row); i++ {
		rest += known(row[i] - c.first[i])
	}
	// Times are rounded to ticks, so that what is left can be a little less than it was.
	grown := max(c.passed-rest-c.worked, 0)
	c.worked += grown
	c.divide(row[:workColumns], grown)
}

// divide adds work to what is shown, as the ticks since the last reading were divided, or else all
// ticks.
func (c *cpuWhole) divide(row []float64, grown float64) {
	total, since := 0.0, 0.0
	for i, n := range row {
		total, since = total+known(n), since+known(n-c.last[i])
	}
	for i, n := range row {
		part := known(n) / total
		if since > 0 {
			part = known(n-c.last[i]) / since
		}
		if c.last[i] = n; total > 0 {
			c.shown[i] += grown * part
			row[i] = c.shown[i]
		}
	}
}

// known is x, or 0 where it is not known.
func known(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}
