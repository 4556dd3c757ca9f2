package probe

import (
	"math"
	"path/filepath"
)

var sensorColumns = []column{
	{name: "host.cpu.frequency", unit: "MHz"}, // mean of the CPUs
	{name: "host.temperature", unit: "°C"},    // of the hottest zone
}

// sensors are files with a number; virtual machines have none.
type sensors struct{ frequencies, zones []string }

func findSensors() (s sensors) {
	// The only error is a malformed pattern.
	s.frequencies, _ = filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq")
	s.zones, _ = filepath.Glob("/sys/class/thermal/thermal_zone[0-9]*/temp")
	return s
}

func (s sensors) read(from *scratch, row []float64) {
	sum, n := 0.0, 0.0
	each(from, s.frequencies, func(kHz float64) { sum, n = sum+kHz, n+1 })
	if n > 0 {
		row[0] = sum / n / 1e3
	}
	hottest := math.Inf(-1)
	each(from, s.zones, func(milli float64) { hottest = max(hottest, milli/1e3) })
	if !math.IsInf(hottest, -1) {
		row[1] = hottest
	}
}

func each(from *scratch, files []string, do func(float64)) {
	for _, path := range files {
		if text, err := from.file(path); err == nil {
			word, _ := nextField(text)
			if n, ok := number(word); ok {
				do(n)
			}
		}
	}
}
