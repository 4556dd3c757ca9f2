package store

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dyno/internal/atomicfile"
	"dyno/internal/lab"
)

// importExperiment stores an experiment's folder under its name.
func (s *Store) importExperiment(dir string) Imported {
	out := Imported{From: dir, What: "experiment"}
	full, err := filepath.Abs(dir)
	if err == nil {
		out.ID = filepath.Base(full)
		out.Same, err = s.copyExperiment(full, out.ID)
	}
	out.Err = err
	return out
}

func (s *Store) copyExperiment(dir, name string) (same bool, err error) {
	if !isFolder(name) {
		return false, fmt.Errorf("%q cannot be the name of an experiment's folder", name)
	}
	if err := checkExperiment(dir); err != nil {
		return false, err
	}
	files, err := walk(dir, "")
	if err != nil {
		return false, err
	}
	to := s.file("experiments", name)
	if _, err := os.Lstat(to); err == nil {
		return meet(files, dir, to)
	}
	if err := os.MkdirAll(s.file("experiments"), 0o700); err != nil {
		return false, err
	}
	// It gets its name when it is whole.
	temp, err := os.MkdirTemp(s.file("experiments"), ".import-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	for _, f := range files {
		if err := copyFile(f.path, filepath.Join(temp, filepath.FromSlash(f.name))); err != nil {
			return false, err
		}
	}
	return false, os.Rename(temp, to)
}

// checkExperiment reads what the folder says and each of its trials. None of its files may have
// more than those of an archive.
func checkExperiment(dir string) error {
	path := filepath.Join(dir, "experiment.json")
	content, err := readBounded(path, longestResult)
	if err != nil {
		return named(path, err)
	}
	if _, err := experimentRows(path, "", content); err != nil {
		return err
	}
	files, err := walk(dir, "")
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := bounded(f.path, archiveFile); err != nil {
			return named(f.path, err)
		}
	}
	if err := checkDataOf(dir); err != nil {
		return err
	}
	return checkTrials(dir)
}

// checkTrials reads each trial, if there are any: an experiment may end before the first.
func checkTrials(dir string) error {
	folder := filepath.Join(dir, "trials")
	info, err := os.Lstat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.IsDir():
		err = errors.New("is a link, or no folder; import takes the files themselves")
	}
	if err != nil {
		return named(folder, err)
	}
	trials, err := importable(folder)
	for _, path := range trials {
		if err := bounded(path, longestResult); err != nil {
			return named(path, err)
		}
		if _, err := lab.OpenTrial(dir, strings.TrimSuffix(filepath.Base(path), ".json")); err != nil {
			return err
		}
	}
	return err
}

// bounded is an error if a file has more than so many bytes, or is a link.
func bounded(path string, most int64) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("is a link, or no regular file; import takes the files themselves")
	case info.Size() > most:
		return fmt.Errorf("has %d bytes; import takes at most %d of such a file", info.Size(), most)
	}
	return nil
}

// named is an error that says of which file it is.
func named(path string, err error) error {
	if _, is := errors.AsType[*fs.PathError](err); is {
		return err // it says so
	}
	return fmt.Errorf("%s %w", filepath.Base(path), err)
}

// meet stores an experiment's files where one of its name is stored as to. That is replaced
// by no other, but goes on: what was exported while it ran is later brought in complete.
func meet(files []file, dir, to string) (same bool, err error) {
	if same, err = sameFiles(files, to); same || err != nil {
		return same, err
	}
	later, err := compare(dir, to)
	switch {
	case err != nil || later < 0: // the one that is stored has gone on since
		return err == nil, err
	case later > 0:
		return false, goOn(files, to)
	}
	return false, fmt.Errorf("another experiment is stored as %s, and is kept; rename one of them",
		filepath.Base(to))
}

// compare is above 0 if the experiment in a is that in b, later; below 0 the other way round;
// and 0 if they are not one, or it cannot be told. Trials are never changed: whichever has all
// of the other's is later, and of equal ones whichever has come to its end.
func compare(a, b string) (int, error) {
	one, err := stateOf(a)
	if err != nil {
		return 0, err
	}
	other, err := stateOf(b)
	if err != nil || one.identity != other.identity {
		return 0, err
	}
	holds, held := one.holds(other), other.holds(one)
	switch {
	case holds && held:
		return one.ended() - other.ended(), nil
	case holds:
		return 1, nil
	case held:
		return -1, nil
	}
	return 0, nil
}

// A course is which experiment a folder is of, and how far it has come.
type course struct {
	identity
	State  lab.State
	trials map[string][sha256.Size]byte // by name
}

// An identity is what stays as it was when an experiment began.
type identity struct {
	Started, SHA256 string
	Seed            int64
}

func stateOf(dir string) (c course, err error) {
	content, err := readBounded(filepath.Join(dir, "experiment.json"), longestResult)
	if err == nil {
		err = json.Unmarshal(content, &c)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", dir, err)
	}
	files, err := walk(filepath.Join(dir, "trials"), "")
	c.trials = map[string][sha256.Size]byte{}
	for _, f := range files {
		if c.trials[f.name], err = sumOf(f.path); err != nil {
			return c, err
		}
	}
	return c, err
}

// holds reports whether c has all trials of o.
func (c course) holds(o course) bool {
	for name, sum := range o.trials {
		if had, is := c.trials[name]; !is || had != sum {
			return false
		}
	}
	return true
}

// ended is higher the nearer to its end an experiment is.
func (c course) ended() int {
	switch c.State {
	case lab.Running:
		return 0
	case lab.Interrupted, lab.Failed: // --resume goes on
		return 1
	}
	return 2
}

// goOn brings the folder to what the later files say, unless a dyno works in it.
func goOn(files []file, to string) error {
	release, err := lab.Hold(to)
	if err != nil {
		return err
	}
	return errors.Join(bring(files, to), release())
}

// bring copies files into a folder. What is new comes first: a record never names what is
// not there.
func bring(files []file, to string) error {
	var had []file
	for _, f := range files {
		err := copyFile(f.path, filepath.Join(to, filepath.FromSlash(f.name)))
		if errors.Is(err, fs.ErrExist) {
			had = append(had, f)
		} else if err != nil {
			return err
		}
	}
	for _, f := range had {
		content, err := readBounded(f.path, archiveFile)
		if err == nil {
			to := filepath.Join(to, filepath.FromSlash(f.name))
			err = atomicfile.Replace(to, 0o600, atomicfile.Content(content))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sumOf is the SHA256 of a file, of which no more than a piece is in memory.
func sumOf(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err = io.Copy(h, f); err == nil {
		h.Sum(sum[:0])
	}
	return sum, err
}

// sameFiles reports whether the folder has the same files, and no others.
func sameFiles(files []file, dir string) (bool, error) {
	had, err := walk(dir, "")
	if err != nil || len(had) != len(files) {
		return false, err
	}
	for i, f := range files {
		if had[i].name != f.name {
			return false, nil
		}
		a, err := sumOf(f.path)
		if err != nil {
			return false, err
		}
		b, err := sumOf(had[i].path)
		if err != nil || a != b {
			return false, err
		}
	}
	return true, nil
}
