//go:build unix

package hub

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes f for this process alone; the system lets go of it when f is closed, and so
// when the process ends in whatever way.
// held is that another process has it.
func lockFile(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
