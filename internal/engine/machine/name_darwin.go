package machine

import "syscall"

// Names is the kernel's release and the CPU's model; empty when unknown.
func Names() (kernel, cpu string) {
	kernel, _ = syscall.Sysctl("kern.osrelease")
	cpu, _ = syscall.Sysctl("machdep.cpu.brand_string")
	return kernel, cpu
}
