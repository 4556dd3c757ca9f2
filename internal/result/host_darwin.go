package result

import "syscall"

// platformNames is the kernel's release and the CPU's model; empty when unknown.
func platformNames() (kernel, cpu string) {
	kernel, _ = syscall.Sysctl("kern.osrelease")
	cpu, _ = syscall.Sysctl("machdep.cpu.brand_string")
	return kernel, cpu
}
