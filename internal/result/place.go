package result

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Place writes a file, whole or not at all, which must not be there: then it fails with
// fs.ErrExist and write is not called. When it returns, the file outlives a loss of
// power. Whoever holds the temporary file may make the other; it is let go of once the
// other is there, so of two that want the same name, one finds either that file or the
// other. What a process leaves that was killed meanwhile is taken over by the next.
func Place(path string, write func(io.Writer) error) error {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	f, err := hold(temp)
	if err != nil {
		return err
	}
	if _, err = os.Lstat(path); err == nil {
		err = fs.ErrExist
	} else {
		err = errors.Join(write(f), f.Sync())
	}
	if err != nil {
		return errors.Join(err, letGo(f, func() error { return os.Remove(temp) }))
	}
	if err := letGo(f, func() error { return os.Rename(temp, path) }); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	SyncFolder(filepath.Dir(path))
	return nil
}

// SyncFolder makes what was renamed in a folder outlive a loss of power, as far as its
// file system can: one that cannot (Windows' have no folders to open) does so by itself,
// or there is nothing that we could do.
func SyncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
