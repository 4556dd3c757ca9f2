package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"dyno/internal/atomicfile"
	"dyno/internal/result"
)

// What a folder of an experiment has in it.
const (
	experimentFile = "experiment.json"
	sourceFile     = "experiment.yaml" // as it was read
	trialsFolder   = "trials"
	profilesFolder = "profiles"
	filesFolder    = "files"  // the experiment's own, of one that ships inside dyno
	outputFolder   = "output" // what the servers wrote, a file for each process of a trial
)

// A store is an experiment's folder. Each trial is a file that is written when
// the trial is over, and never again; so what was measured outlives whatever
// happens next.
type store struct {
	dir  string
	lock *os.File
}

// create makes the folder, which must not be one already in use.
func create(dir string) (store, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return store{}, fmt.Errorf("%s is not empty; give another folder, or --resume %s if it is "+
			"an experiment's", dir, dir)
	}
	for _, sub := range []string{trialsFolder, outputFolder} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return store{}, fmt.Errorf("making the experiment's folder: %w; give another with -o", err)
		}
	}
	return store{dir: dir}, nil
}

// lockFile is held by whoever works in the folder.
const lockFile = ".lock"

// claim makes the folder this process's until unlock, or until it ends.
func (s *store) claim() (err error) {
	s.lock, err = os.OpenFile(filepath.Join(s.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("opening the experiment's folder: %w", err)
	}
	if err := lock(s.lock); err != nil {
		s.lock.Close()
		s.lock = nil
		return fmt.Errorf("%s is in use by another dyno; wait until it has ended", s.dir)
	}
	return nil
}

// Hold keeps every other dyno from working in an experiment's folder, until release.
func Hold(dir string) (release func() error, err error) {
	s := store{dir: dir}
	if err := s.claim(); err != nil {
		return nil, err
	}
	return s.unlock, nil
}

// clear removes what is in a folder that was empty and whose experiment could not begin.
func (s store) clear() (err error) {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, e.Name())))
	}
	return err
}

// unlock lets go of the folder.
func (s store) unlock() error {
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// write puts v into a file of the folder, whole or not at all.
func (s store) write(name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("storing %s: %w", name, err)
	}
	return s.put(name, append(b, '\n'))
}

func (s store) put(name string, b []byte) error {
	path := filepath.Join(s.dir, name)
	if err := atomicfile.Replace(path, 0o666, atomicfile.ContentWriter(b)); err != nil {
		return fmt.Errorf("storing %s: %w", name, err)
	}
	return nil
}

// keep stores a trial, once.
func (s store) keep(t *Trial) error {
	name := filepath.Join(trialsFolder, t.ID+".json")
	if _, err := os.Lstat(filepath.Join(s.dir, name)); err == nil {
		return fmt.Errorf("storing %s: it is there already", name)
	}
	if t.Result != nil {
		if err := result.SaveData(s.dir, &t.Result.Plan); err != nil {
			return fmt.Errorf("storing %s: %w", name, err)
		}
		t.Result.Plan.Forget()
	}
	return s.write(name, t)
}

// trials are all that are stored, in the order in which they ran. A file that
// cannot be read is an error: whoever removes it has its trial run again.
func (s store) trials() ([]*Trial, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, trialsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the trials: %w", err)
	}
	var all []*Trial
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		t := new(Trial)
		if err := s.read(filepath.Join(trialsFolder, e.Name()), TrialFormat, t); err != nil {
			return nil, err
		}
		t.Meanwhile = nil
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b *Trial) int { return a.Started.Compare(b.Started) })
	return all, nil
}

// record fills v from the folder's record.
func (s store) record(v any) error {
	err := s.read(experimentFile, ExperimentFormat, v)
	if errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%s is a file; give the experiment's folder", s.dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is no experiment's folder: it has no %s", s.dir, experimentFile)
	}
	return err
}

// read fills v from a file that says it is of a format.
func (s store) read(name, format string, v any) error {
	path := filepath.Join(s.dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var head struct{ Format string }
	if err := json.Unmarshal(b, &head); err != nil {
		return damaged(name, path, err)
	}
	if head.Format != format {
		return fmt.Errorf("%s: its format is %q, not %q; another version of dyno wrote it",
			path, head.Format, format)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return damaged(name, path, err)
	}
	return nil
}

// damaged says what can be done about a file: only a trial can be had again.
func damaged(name, path string, err error) error {
	if name == experimentFile {
		return fmt.Errorf("%s is damaged: %w; put it back from a copy or from what dyno export wrote: "+
			"the trials beside it are as they were", path, err)
	}
	return fmt.Errorf("%s is damaged: %w; remove it, and --resume runs that trial again", path, err)
}
