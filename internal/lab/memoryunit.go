package lab

// Older versions stored memory in MiB. Today all sizes are in MB.
const (
	memory        = "memory"
	oldMemoryUnit = "MiB"
	oldMemorySize = 1.048576 // MB
)

// convertMemory converts the memory in a record of an older version to the unit of Measures, so
// that it can be compared with others.
func (r *Record) convertMemory() {
	old := false
	for i, c := range r.Cells {
		if c.Metric != memory || c.Unit != oldMemoryUnit {
			continue
		}
		m := &r.Cells[i].Median
		m.Low, m.Estimate, m.High = m.Low*oldMemorySize, m.Estimate*oldMemorySize,
			m.High*oldMemorySize
		r.Cells[i].Unit, old = "MB", true
	}
	for _, t := range r.Trials {
		if v, has := t.Values[memory]; has && old {
			t.Values[memory] = v * oldMemorySize
		}
	}
}
