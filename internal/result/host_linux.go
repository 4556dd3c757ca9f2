package result

import (
	"os"
	"strings"
)

// platformNames is the kernel's release and the CPU's model; empty when unknown.
func platformNames() (kernel, cpu string) {
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease") // what uname -r prints
	info, _ := os.ReadFile("/proc/cpuinfo")
	return strings.TrimSpace(string(release)), cpuModel(string(info))
}
