package result

import (
	"runtime"
	"strings"
)

// ThisHost describes the machine that this process runs on, as far as it is known.
func ThisHost() Host {
	kernel, cpu := platformNames()
	return Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: kernel, CPU: cpu,
		CPUs: runtime.NumCPU(), Go: runtime.Version()}
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
