//go:build unix

package hub

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks f for this process. The system unlocks it when f is closed, and so when the
// process ends in any way. held reports whether another process has the lock.
func lockFile(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
