// Package atomicfile writes files that other processes see whole or not at all. A file is
// written under a temporary name in the same folder, synced, closed and renamed; then the folder
// is synced, so that the file outlives a loss of power.
//
// No library does all of this: github.com/google/renameio does not build for Windows, and
// github.com/natefinch/atomic does not sync.
//
//	atomicfile.go      replaces, creates and publishes files and folders
//	hold_unix.go       who writes a temporary file, and which ones were left by killed processes;
//	                   hold_other.go
//	straight.go        opens a file that a user named, to write it where it is
//	straight_unix.go   links in /tmp that are not followed; straight_other.go
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Create writes a new file with mode 0600. If path exists, or another process is creating it,
// Create returns fs.ErrExist and does not call write. Its errors name path.
//
// The temporary file is .NAME.tmp, and its writer holds a lock on it. A process that is killed
// leaves it; the next Create of the same path reuses it.
func Create(path string, write func(io.Writer) error) error {
	return create(path, write, (*os.File).Sync)
}

// A syncer makes what a file or a folder has outlive a loss of power: os.File.Sync, and in a test
// what notes each call of it, too.
type syncer func(*os.File) error

func create(path string, write func(io.Writer) error, sync syncer) error {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	f, err := holdTemporary(temp)
	if err != nil {
		return withPath(err, path)
	}
	if _, err = os.Lstat(path); err == nil {
		err = fs.ErrExist
	} else {
		named := &File{f, path, sync}
		err = errors.Join(write(named), withPath(sync(f), path))
	}
	if err != nil {
		left := releaseHeld(f, func() error { return os.Remove(temp) })
		return errors.Join(err, withPath(left, path))
	}
	if err := releaseHeld(f, func() error { return renameTo(temp, path) }); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	syncFolder(filepath.Dir(path), sync)
	return nil
}

// IsAbandoned reports whether a file is there that no process has locked: the temporary file of a
// Create whose process was killed, or a lock file that is free.
func IsAbandoned(temp string) bool {
	f, err := os.OpenFile(temp, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return isUnlocked(f)
}

// Replace writes a file in place of whatever has its name. Its mode is perm less the umask. If
// an error is returned, the file that was there is unchanged.
func Replace(path string, perm fs.FileMode, write func(io.Writer) error) error {
	return replace(path, perm, write, (*os.File).Sync)
}

func replace(path string, perm fs.FileMode, write func(io.Writer) error, sync syncer) error {
	f, err := beginReplace(path, perm, sync)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = f.Publish()
	}
	if err != nil {
		os.Remove(f.Name()) // the error says why, and the file may be gone
	}
	return err
}

// ContentWriter returns what writes b, for Create and Replace.
func ContentWriter(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

// A File is a temporary file that can replace another: BeginReplace, write, Close, Publish.
// Whoever does not publish it removes it.
type File struct {
	*os.File
	path string
	sync syncer
}

// mostTemporary bounds how many temporary names BeginReplace tries.
const mostTemporary = 100

// BeginReplace makes the temporary file, .NAME.DIGITS, with mode perm less the umask. Its errors
// name path.
func BeginReplace(path string, perm fs.FileMode) (*File, error) {
	return beginReplace(path, perm, (*os.File).Sync)
}

func beginReplace(path string, perm fs.FileMode, sync syncer) (*File, error) {
	for range mostTemporary {
		temp := fmt.Sprintf(".%s.%d", filepath.Base(path), rand.Uint32())
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), temp),
			os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			return &File{f, path, sync}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, withPath(err, path)
		}
	}
	return nil, fmt.Errorf("%s: too many of its temporary files are there; remove them", path)
}

// Write writes to the temporary file. Its errors name the file to be replaced.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, withPath(err, f.path)
}

// Close syncs and closes the temporary file. Its errors name the file to be replaced.
func (f *File) Close() error {
	return errors.Join(withPath(f.sync(f.File), f.path), withPath(f.File.Close(), f.path))
}

// Publish gives the closed file its name and syncs the folder. Its errors name the file to be
// replaced.
func (f *File) Publish() error {
	if err := renameTo(f.Name(), f.path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(f.path), f.sync)
	return nil
}

// PublishFolder gives a folder that is complete its name, in the folder in which it is: to other
// processes it is there with all that is below it, or not at all. Its files were written by Create;
// the folders are synced here. Nothing may have the name, but an empty folder.
func PublishFolder(temp, path string) error {
	return publishFolder(temp, path, (*os.File).Sync)
}

func publishFolder(temp, path string, sync syncer) error {
	err := filepath.WalkDir(temp, func(dir string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			syncFolder(dir, sync)
		}
		return err
	})
	if err == nil {
		err = renameTo(temp, path)
	}
	if err != nil {
		return err
	}
	syncFolder(filepath.Dir(path), sync)
	return nil
}

// renameTo gives a temporary file its name. Its errors name path alone: a user does not know the
// other.
func renameTo(temp, path string) error {
	err := os.Rename(temp, path)
	if e, is := errors.AsType[*os.LinkError](err); is {
		return &fs.PathError{Op: e.Op, Path: path, Err: e.Err}
	}
	return err
}

// withPath returns err with path in place of a temporary file's name.
func withPath(err error, path string) error {
	if e, is := errors.AsType[*fs.PathError](err); is {
		return &fs.PathError{Op: e.Op, Path: path, Err: e.Err}
	}
	return err
}

// syncFolder makes a rename outlive a loss of power. Not every system can sync a folder: Windows
// cannot open one. So its errors are ignored.
func syncFolder(dir string, sync syncer) {
	if d, err := os.Open(dir); err == nil {
		_ = sync(d)
		d.Close()
	}
}
