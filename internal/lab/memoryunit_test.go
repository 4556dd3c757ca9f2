package lab

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"dyno/internal/result"
	"dyno/internal/stats"
)

// Memory is in MB like every other size.
func TestMemoryIsDecimal(t *testing.T) {
	m, _ := MeasureNamed(memory)
	r := &result.Result{Observed: result.Observed{
		Server: &result.Server{Processes: []result.Usage{{Memory: 25e6}}}}}
	if v, ok := m.Value(&Trial{Result: r}); !ok || v != 25 || m.Unit != "MB" {
		t.Errorf("25,000,000 bytes are %v %s", v, m.Unit)
	}
}

// The record of an older dyno, in MiB, is read in MB, and one of today stays as it is.
func TestOldMemoryIsReadAsDecimal(t *testing.T) {
	for unit, want := range map[string]float64{oldMemoryUnit: 25, "MB": 25 / oldMemorySize} {
		mib := 25e6 / (1 << 20)
		old := Record{Format: ExperimentFormat, Findings: Findings{Cells: []Cell{
			{Metric: "p99", Unit: "µs", Median: stats.Interval{Estimate: 3}},
			{Metric: memory, Unit: unit, Median: stats.Interval{Low: mib, Estimate: mib, High: mib}}},
			Trials: []TrialSummary{{Values: map[string]float64{memory: mib, "p99": 3}}, {}}}}
		b, err := json.Marshal(old)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, RecordFile), b, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := ReadRecord(dir)
		if err != nil {
			t.Fatal(err)
		}
		m, trial := r.Cells[1], r.Trials[0].Values
		for _, v := range []float64{m.Median.Low, m.Median.Estimate, m.Median.High, trial[memory]} {
			if math.Abs(v-want) > 1e-9 || m.Unit != "MB" {
				t.Errorf("%v %s were read as %v %s, want %v MB", mib, unit, v, m.Unit, want)
			}
		}
		if r.Cells[0].Median.Estimate != 3 || trial["p99"] != 3 {
			t.Errorf("p99 is %+v", r.Cells[0])
		}
	}
}
