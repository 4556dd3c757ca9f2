//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// holdTemporary opens a temporary file for this process alone, by a lock that the system lets go of
// when the process ends in whatever way. One that nobody has locked was left by a process
// that was killed, and is taken over. One that is held is fs.ErrExist.
func holdTemporary(temp string) (*os.File, error) {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	made := err == nil
	if os.IsExist(err) {
		if f, err = os.OpenFile(temp, os.O_WRONLY, 0); err != nil {
			return nil, fs.ErrExist // let go of just now, or another user's
		}
	}
	if err != nil {
		return nil, err
	}
	locked := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	// A file system without locks has those that we made, and never those that we found.
	if locked == nil && hasName(f, temp) || made && locked != nil && locked != syscall.EWOULDBLOCK {
		return f, f.Truncate(0)
	}
	f.Close()
	return nil, fs.ErrExist
}

// hasName reports whether f still has that name: who held it before may have renamed or
// removed it.
func hasName(f *os.File, name string) bool {
	ours, err := f.Stat()
	there, err2 := os.Lstat(name)
	return err == nil && err2 == nil && os.SameFile(ours, there)
}

// releaseHeld does the last thing to a held file's name, and ends the hold.
func releaseHeld(f *os.File, last func() error) error {
	err := last() // before another can hold it
	if bad := f.Close(); err == nil {
		err = bad
	}
	return err
}

// isUnlocked reports whether no process holds f.
func isUnlocked(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
