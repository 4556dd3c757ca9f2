//go:build unix

package lab

import (
	"os"
	"syscall"
)

// lockFile takes f for this process alone; the system lets go of it when f is closed,
// and so when the process ends in whatever way.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
