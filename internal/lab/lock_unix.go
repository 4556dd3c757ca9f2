//go:build unix

package lab

import (
	"os"
	"syscall"
)

// canLock is whether lockFile locks.
const canLock = true

// lockFile locks f for this process alone. The system unlocks it when f is closed, so also when the
// process ends for any reason.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
