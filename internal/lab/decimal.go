package lab

// Memory was in MiB once; it is in MB, as all sizes are that dyno writes.
const (
	memory        = "memory"
	oldMemoryUnit = "MiB"
	oldMemorySize = 1.048576 // MB
)

// convertMemory brings the memory of a record that an older dyno wrote into the unit of Measures,
// so that its figures stand beside others.
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
