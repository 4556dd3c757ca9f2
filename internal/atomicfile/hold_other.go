//go:build !unix

package atomicfile

import (
	"errors"
	"os"
	"time"
)

// abandoned is how old a temporary file is that nobody writes any more: there are no locks
// here that end with their process, and nothing that is stored takes minutes.
const abandoned = time.Hour

// holdTemporary makes a temporary file that is not there, or was left by a process that was killed.
// One that is there is fs.ErrExist.
func holdTemporary(temp string) (*os.File, error) {
	info, err := os.Lstat(temp)
	if err == nil && time.Since(info.ModTime()) > abandoned {
		os.Remove(temp) // else what follows says that it is there
	}
	return os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// releaseHeld ends the hold, and does the last thing to the file's name: here no open file can be
// renamed.
func releaseHeld(f *os.File, last func() error) error { return errors.Join(f.Close(), last()) }

// isUnlocked reports whether f was written to so long ago that no process holds it.
func isUnlocked(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && time.Since(info.ModTime()) > abandoned
}
