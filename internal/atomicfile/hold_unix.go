//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// holdTemporary opens a temporary file and locks it. The system releases the lock when the process
// ends, however it ends. A file that nobody has locked was left by a killed process and is
// reused. If another process holds the lock, holdTemporary returns fs.ErrExist.
func holdTemporary(temp string) (*os.File, error) {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	made := err == nil
	if os.IsExist(err) {
		if f, err = os.OpenFile(temp, os.O_WRONLY, 0); err != nil {
			return nil, fs.ErrExist // it was just renamed, or it is another user's
		}
	}
	if err != nil {
		return nil, err
	}
	locked := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	// Without locks, the file is ours only if we made it: whoever made another may still write it.
	if locked == nil && hasName(f, temp) || made && locked != nil && locked != syscall.EWOULDBLOCK {
		return f, f.Truncate(0)
	}
	f.Close()
	return nil, fs.ErrExist
}

// hasName reports whether f still has that name. The process that held it before may have renamed
// or removed it.
func hasName(f *os.File, name string) bool {
	ours, err := f.Stat()
	there, err2 := os.Lstat(name)
	return err == nil && err2 == nil && os.SameFile(ours, there)
}

// releaseHeld calls last, which renames or removes the file, and then releases the lock.
func releaseHeld(f *os.File, last func() error) error {
	err := last() // before the lock is released
	if bad := f.Close(); err == nil {
		err = bad
	}
	return err
}

// isUnlocked reports whether no process holds f.
func isUnlocked(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
