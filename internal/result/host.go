package result

import (
	"runtime"

	"dyno/internal/engine/machine"
)

// ThisHost describes the machine that this process runs on, as far as it is known.
func ThisHost() Host {
	kernel, cpu := machine.Names()
	return Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: kernel, CPU: cpu,
		CPUs: runtime.NumCPU(), Go: runtime.Version()}
}
