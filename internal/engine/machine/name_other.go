//go:build !linux && !darwin

package machine

import "os"

// Names is the kernel's release and the CPU's model; empty when unknown. Windows reports
// only the model to its processes.
func Names() (kernel, cpu string) {
	return "", os.Getenv("PROCESSOR_IDENTIFIER")
}
