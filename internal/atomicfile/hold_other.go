//go:build !unix

package atomicfile

import (
	"errors"
	"os"
	"time"
)

// abandoned is the age from which a temporary file counts as left by a killed process. This system
// has no locks that end with their process. Nothing that is stored takes minutes to write.
const abandoned = time.Hour

// holdTemporary makes a temporary file. It replaces one that a killed process left. If the file is
// there and newer, holdTemporary returns fs.ErrExist.
func holdTemporary(temp string) (*os.File, error) {
	info, err := os.Lstat(temp)
	if err == nil && time.Since(info.ModTime()) > abandoned {
		os.Remove(temp) // else what follows says that it is there
	}
	return os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// releaseHeld closes the file and then calls last, which renames or removes it: this system does
// not rename open files.
func releaseHeld(f *os.File, last func() error) error { return errors.Join(f.Close(), last()) }

// isUnlocked reports whether f was written to so long ago that no process holds it.
func isUnlocked(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && time.Since(info.ModTime()) > abandoned
}
