package run

import (
	"dyno/internal/lab"
	"os"
	"path/filepath"
	"strings"
)

// sources are the files of Linux with properties of a machine that may matter to a measurement. If
// a pattern matches several files, the first counts.
var sources = []struct{ name, pattern string }{
	{"frequency governor", "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
	{"simultaneous multithreading", "/sys/devices/system/cpu/smt/control"},
	{"clock source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{"transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"},
	{"kernel command line", "/proc/cmdline"},
	{"hypervisor", "/sys/hypervisor/type"},
	{"congestion control", "/proc/sys/net/ipv4/tcp_congestion_control"},
	{"accept queue (somaxconn)", "/proc/sys/net/core/somaxconn"},
	{"local ports", "/proc/sys/net/ipv4/ip_local_port_range"},
	{"address space randomisation", "/proc/sys/kernel/randomize_va_space"},
	{lab.LoadAverage, "/proc/loadavg"},
}

// machineFacts are the properties that can be read here. On other systems there are none.
func machineFacts() (all []lab.Fact) {
	for _, s := range sources {
		if text := firstLine(s.pattern); text != "" {
			all = append(all, lab.Fact{Name: s.name, Value: text})
		}
	}
	mitigations, _ := filepath.Glob("/sys/devices/system/cpu/vulnerabilities/*")
	for _, path := range mitigations {
		text := firstLine(path)
		if text != "" && text != "Not affected" {
			all = append(all, lab.Fact{Name: "mitigation of " + filepath.Base(path), Value: text})
		}
	}
	return all
}

func firstLine(pattern string) string {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		return ""
	}
	b, err := os.ReadFile(paths[0])
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return strings.Join(strings.Fields(line), " ")
}
