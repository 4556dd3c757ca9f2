//go:build !linux && !darwin

package result

import "os"

// platformNames is the kernel's release and the CPU's model; empty when unknown. Windows reports
// only the model to its processes.
func platformNames() (kernel, cpu string) {
	return "", os.Getenv("PROCESSOR_IDENTIFIER")
}
