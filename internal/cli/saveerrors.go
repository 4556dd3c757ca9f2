package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/format"
	"dyno/internal/view/sample"
)

// An errorFolder is where --save-errors writes. It is made before the load, because a load whose
// errors cannot be saved would be for nothing. It is removed if it stays empty. The zero value is
// that of a run without --save-errors.
type errorFolder struct {
	dir  string
	made []string // folders that did not exist before, dir first
}

// emptyFolderFault is why a folder cannot be written to; nil if it is empty or missing.
func emptyFolderFault(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty; give another folder", dir)
	}
	return nil
}

// setErrorFolder sets the folder of --save-errors.
func (f *runFlags) setErrorFolder(dir string) error {
	if dir == "" {
		return setting.ErrNoValue
	}
	f.errorsIn.dir, f.plan.SaveErrors = dir, true
	return emptyFolderFault(dir)
}

// makeFolder makes the folder, if --save-errors was given. Other users cannot read it.
func (e *errorFolder) makeFolder() error {
	if e.dir == "" {
		return nil
	}
	for at := e.dir; filepath.Dir(at) != at; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		e.made = append(e.made, at)
	}
	err := os.MkdirAll(e.dir, 0o700)
	if err == nil {
		err = emptyFolderFault(e.dir)
	}
	if err != nil {
		e.removeEmpty()
	}
	return err
}

// removeEmpty removes the folders that were made, as far as nothing is in them.
func (e *errorFolder) removeEmpty() {
	for _, dir := range e.made {
		os.Remove(dir) // fails of one that is not empty
	}
}

// saveSamples writes a file for each sample of r. It replaces none that is there.
func (e *errorFolder) saveSamples(r *result.Result) error {
	root, err := os.OpenRoot(e.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	_, failed := sample.Split(r.Samples)
	for i, s := range failed {
		name := sample.ErrorFileName(i+1, s)
		file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			err = errors.Join(sample.ErrorFile(file, s), file.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// saveErrors writes the samples of r into the folder of --save-errors, if it was given, and says
// so. It reports whether that succeeded.
func (s streams) saveErrors(f *runFlags, r *result.Result) bool {
	if f.errorsIn.dir == "" {
		return true
	}
	if err := f.errorsIn.saveSamples(r); err != nil {
		s.writeLine("dyno: saving errors: %v", err)
		return false
	}
	_, failed := sample.Split(r.Samples)
	switch n := len(failed); {
	case f.quiet:
	case n == 0:
		s.writeLine("dyno: there was no error to save")
	default:
		s.writeLine("dyno: %s saved in %s", format.Plural(int64(n), "error"), f.errorsIn.dir)
	}
	return true
}
