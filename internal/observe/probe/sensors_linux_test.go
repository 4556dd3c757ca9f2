package probe

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Sensors are read from a tree of files as a machine has them that is not virtual.
func TestSensors(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"devices/system/cpu/cpu0/cpufreq/scaling_cur_freq":                   "3000000\n",
		"devices/system/cpu/cpu1/cpufreq/scaling_cur_freq":                   "2000000\n",
		"devices/system/cpu/cpu0/thermal_throttle/core_throttle_count":       "3\n",
		"devices/system/cpu/cpu0/thermal_throttle/package_throttle_count":    "4\n",
		"devices/system/cpu/cpu1/thermal_throttle/core_throttle_count":       "5\n",
		"devices/system/cpu/cpu1/thermal_throttle/core_throttle_max_time_ms": "77\n",
		"class/thermal/thermal_zone0/temp":                                   "41000\n",
		"class/thermal/thermal_zone1/temp":                                   "62500\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, row := findSensors(root), newNaNs(3)
	s.readSensors(newScratch(), row)
	if row[0] != 2500 || row[1] != 62.5 || row[2] != 12 {
		t.Errorf("%v MHz, %v °C, throttled %v times", row[0], row[1], row[2])
	}
	none, row := findSensors(t.TempDir()), newNaNs(3)
	none.readSensors(newScratch(), row)
	if !math.IsNaN(row[0]) || !math.IsNaN(row[1]) || !math.IsNaN(row[2]) {
		t.Errorf("where there are none: %v", row)
	}
}
