package machine

import (
	"os"
	"strings"
)

// Names is the kernel's release and the CPU's model; empty when unknown.
func Names() (kernel, cpu string) {
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease") // what uname -r prints
	info, _ := os.ReadFile("/proc/cpuinfo")
	return strings.TrimSpace(string(release)), cpuModel(string(info))
}

// cpuModel is the model of the first CPU in a Linux /proc/cpuinfo, which has
// one on x86 and not on every other architecture.
func cpuModel(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
