//go:build !linux

package cli

import "errors"

// runOn binds the process to cpus, if there are any.
func runOn(cpus []int) error {
	if len(cpus) == 0 {
		return nil
	}
	return errors.New("only on Linux can a process be kept on some CPUs")
}
