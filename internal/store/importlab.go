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
	files, err := filesOfExperiment(dir, "")
	if err != nil {
		return false, err
	}
	to := s.pathOf("experiments", name)
	if _, err := os.Lstat(to); err == nil {
		return mergeExperiment(files, dir, to)
	}
	if err := os.MkdirAll(s.pathOf("experiments"), 0o700); err != nil {
		return false, err
	}
	// It is renamed once it is complete.
	temp, err := os.MkdirTemp(s.pathOf("experiments"), ".import-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	for _, f := range files {
		to := filepath.Join(temp, filepath.FromSlash(f.name))
		if err := copyFile(f.path, to, archiveFile); err != nil {
			return false, err
		}
	}
	if err := lab.MarkImported(temp); err != nil {
		return false, err
	}
	return false, atomicfile.PublishFolder(temp, to)
}

// checkExperiment reads the record and each trial of a folder. No file may be larger than those in
// an archive.
func checkExperiment(dir string) error {
	path := filepath.Join(dir, "experiment.json")
	content, err := readBounded(path, longestResult)
	if err != nil {
		return withFileName(path, err)
	}
	if _, err := experimentRows(path, "", content); err != nil {
		return err
	}
	if err := checkSource(dir, content); err != nil {
		return err
	}
	files, err := filesOfExperiment(dir, "")
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := checkSize(f.path, limitOf(experimentFiles, f.name)); err != nil {
			return withFileName(f.path, err)
		}
	}
	if err := checkDataOf(dir); err != nil {
		return err
	}
	return checkTrials(dir)
}

// checkSource reports a file of an experiment that is not the one that its record says was run. One
// without a file can be shown and not run.
func checkSource(dir string, record []byte) error {
	source, err := readBounded(filepath.Join(dir, lab.SourceFile), longestSource)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var d lab.Definition
	if err == nil {
		err = json.Unmarshal(record, &d)
	}
	if err != nil {
		return withFileName(lab.SourceFile, err)
	}
	return lab.CheckSource(source, d)
}

// longestSource is the size of the largest file of an experiment that is imported, in bytes.
const longestSource = 2 << 20

// checkTrials reads each trial. There may be none: an experiment can end before the first.
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
		return withFileName(folder, err)
	}
	trials, err := importableFiles(folder)
	for _, path := range trials {
		if err := checkSize(path, longestResult); err != nil {
			return withFileName(path, err)
		}
		if _, err := lab.ReadTrial(dir, strings.TrimSuffix(filepath.Base(path), ".json")); err != nil {
			return err
		}
	}
	return err
}

// checkSize fails if a file has more than that many bytes, or is a link.
func checkSize(path string, most int64) error {
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

// withFileName adds the file's name to an error.
func withFileName(path string, err error) error {
	if _, is := errors.AsType[*fs.PathError](err); is {
		return err // it has the name already
	}
	return fmt.Errorf("%s %w", filepath.Base(path), err)
}

// mergeExperiment stores an experiment's files where an experiment of the same name is stored. A
// different experiment is never replaced, nor one that was run here. The same one that was imported
// is completed, if this import was made later.
func mergeExperiment(files []file, dir, to string) (same bool, err error) {
	if same, err = sameFiles(files, to); same || err != nil {
		return same, err
	}
	later, err := compareProgress(dir, to)
	switch {
	case err != nil || later < 0: // the stored one is the later one
		return err == nil, err
	case later > 0 && !lab.IsImported(to):
		return false, fmt.Errorf("%s was run here, and is kept; rename the folder to have both",
			filepath.Base(to))
	case later > 0:
		return false, updateExperiment(files, to)
	}
	return false, fmt.Errorf("another experiment is stored as %s, and is kept; rename one of them",
		filepath.Base(to))
}

// compareProgress is positive if a is a later state of the experiment in b, negative if b is later,
// and 0 if they are different experiments or equal. Trials never change: the folder with all trials
// of the other is later, and of equal ones the one that is nearer to its end.
func compareProgress(a, b string) (int, error) {
	one, err := courseOf(a)
	if err != nil {
		return 0, err
	}
	other, err := courseOf(b)
	if err != nil || one.identity != other.identity {
		return 0, err
	}
	holds, held := one.hasTrialsOf(other), other.hasTrialsOf(one)
	switch {
	case holds && held:
		return one.stageOf() - other.stageOf(), nil
	case holds:
		return 1, nil
	case held:
		return -1, nil
	}
	return 0, nil
}

// A course is which experiment a folder contains, and how far it has come.
type course struct {
	identity
	State  lab.State
	trials map[string][sha256.Size]byte // by name
}

// An identity is what does not change after an experiment has begun, as its record says.
type identity struct {
	Started, File, Here string
	Seed                int64
	Quick               bool
	ran                 string // the names and SHA-256 of the files that it ran, as they are
}

func courseOf(dir string) (c course, err error) {
	content, err := readBounded(filepath.Join(dir, "experiment.json"), longestResult)
	if err == nil {
		err = json.Unmarshal(content, &c)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", dir, err)
	}
	if c.ran, err = sumsOfRun(dir); err != nil {
		return c, err
	}
	files, err := filesBelow(filepath.Join(dir, "trials"), "")
	c.trials = map[string][sha256.Size]byte{}
	for _, f := range files {
		if c.trials[f.name], err = sha256Of(f.path); err != nil {
			return c, err
		}
	}
	return c, err
}

// sumsOfRun are the names and SHA-256 of the files that an experiment ran, and would run again.
func sumsOfRun(dir string) (text string, err error) {
	files, err := filesBelow(filepath.Join(dir, lab.FilesFolder), lab.FilesFolder)
	for _, f := range append(files, file{filepath.Join(dir, lab.SourceFile), lab.SourceFile}) {
		sum, failed := sha256Of(f.path)
		if failed == nil {
			text += fmt.Sprintf("%q %x\n", f.name, sum)
		} else if !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return text, err
}

// hasTrialsOf reports whether c has all trials of o.
func (c course) hasTrialsOf(o course) bool {
	for name, sum := range o.trials {
		if had, is := c.trials[name]; !is || had != sum {
			return false
		}
	}
	return true
}

// stageOf is the higher, the nearer an experiment is to its end.
func (c course) stageOf() int {
	switch c.State {
	case lab.Running:
		return 0
	case lab.Interrupted, lab.Failed: // --resume continues it
		return 1
	}
	return 2
}

// updateExperiment updates the folder with the later files, unless a dyno works in it.
func updateExperiment(files []file, to string) error {
	release, err := lab.LockFolder(to)
	if err != nil {
		return err
	}
	return errors.Join(copyAll(files, to), release())
}

// copyAll copies files into a folder. New ones come first, so that a record never refers to a
// missing file.
func copyAll(files []file, to string) error {
	var had []file
	for _, f := range files {
		err := copyFile(f.path, filepath.Join(to, filepath.FromSlash(f.name)), archiveFile)
		if errors.Is(err, fs.ErrExist) {
			had = append(had, f)
		} else if err != nil {
			return err
		}
	}
	for _, f := range had {
		to := filepath.Join(to, filepath.FromSlash(f.name))
		if err := atomicfile.Replace(to, 0o600, copyOf(f.path, archiveFile)); err != nil {
			return err
		}
	}
	return nil
}

// sha256Of is the SHA256 of a file, which is read in small pieces.
func sha256Of(path string) (sum [sha256.Size]byte, err error) {
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
	had, err := filesOfExperiment(dir, "")
	if err != nil || len(had) != len(files) {
		return false, err
	}
	for i, f := range files {
		if had[i].name != f.name {
			return false, nil
		}
		a, err := sha256Of(f.path)
		if err != nil {
			return false, err
		}
		b, err := sha256Of(had[i].path)
		if err != nil || a != b {
			return false, err
		}
	}
	return true, nil
}
