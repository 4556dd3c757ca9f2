package probe

import (
	"math"
	"path/filepath"
)

var sensorColumns = []column{
	{name: frequency, unit: "MHz"},  // mean of the CPUs
	{name: temperature, unit: "°C"}, // of the hottest zone
	{name: hotSlow, unit: "1/s", kind: counter},
}

// sensors are files with a number; virtual machines have none.
type sensors struct{ frequencies, zones, throttles []string }

// findSensors looks for them below root, which is /sys.
func findSensors(root string) (s sensors) {
	find := func(pattern string) []string {
		files, _ := filepath.Glob(filepath.Join(root, pattern)) // its only error: a malformed pattern
		return files
	}
	s.frequencies = find("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq")
	s.zones = find("class/thermal/thermal_zone[0-9]*/temp")
	s.throttles = find("devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count")
	return s
}

// throttleCount is how often a CPU was slowed down because it, or its package, was hot, each CPU's
// account added up; NaN where there is none.
func (s sensors) throttleCount(from *scratch) float64 {
	sum, n := 0.0, 0
	eachValue(from, s.throttles, func(times float64) { sum, n = sum+times, n+1 })
	if n == 0 {
		return math.NaN()
	}
	return sum
}

func (s sensors) readSensors(from *scratch, row []float64) {
	sum, n := 0.0, 0.0
	eachValue(from, s.frequencies, func(kHz float64) { sum, n = sum+kHz, n+1 })
	if n > 0 {
		row[0] = sum / n / 1e3
	}
	hottest := math.Inf(-1)
	eachValue(from, s.zones, func(milli float64) { hottest = max(hottest, milli/1e3) })
	if !math.IsInf(hottest, -1) {
		row[1] = hottest
	}
	row[2] = s.throttleCount(from)
}

func eachValue(from *scratch, files []string, do func(float64)) {
	for _, path := range files {
		if text, err := from.readFile(path); err == nil {
			word, _ := nextField(text)
			if n, ok := parseNumber(word); ok {
				do(n)
			}
		}
	}
}
