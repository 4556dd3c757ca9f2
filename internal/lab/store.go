package lab

import (
	"bytes"
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
	"dyno/internal/dynohome"
)

// Names in the folder of an experiment.
const (
	RecordFile     = "experiment.json"
	SourceFile     = "experiment.yaml" // as it was read
	TrialsFolder   = "trials"
	ProfilesFolder = "profiles"
	FilesFolder    = "files"  // files of an experiment that ships inside dyno
	OutputFolder   = "output" // output of the servers, a file for each process of a trial
)

// A Folder is an experiment's folder. Each trial is a file that is written once, when the trial is
// over. So no later failure loses what was measured.
type Folder struct {
	Dir    string
	locked *os.File
	made   []string // folders that did not exist before, Dir first
}

// CheckNew reports a folder that CreateFolder would not take because something is in it.
func CheckNew(dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty; give another folder, or go on with dyno lab run --resume "+
			"%s if it is an experiment's", dir, dir)
	}
	return nil
}

// FolderBeside is the folder for what is run again from the folder dir, an absolute path: the first
// of DIR-2, DIR-3 and so on that is not there. It is "" if dir lies in the store, where dyno names
// the folders, or if none up to DIR-99 is free.
func FolderBeside(dir string) string {
	home, err := dynohome.Dir()
	if err == nil {
		home, err = filepath.Abs(home)
	}
	if err == nil && filepath.Dir(dir) == filepath.Join(home, dynohome.Experiments) {
		return ""
	}
	const most = 100
	for n := 2; n < most; n++ {
		name := fmt.Sprintf("%s-%d", dir, n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
	return ""
}

// CreateFolder makes the folder, which must not be one already in use. If it fails it leaves
// nothing.
func CreateFolder(dir string) (Folder, error) {
	if err := CheckNew(dir); err != nil {
		return Folder{}, err
	}
	s := Folder{Dir: dir, made: missingFolders(dir)}
	for _, sub := range []string{TrialsFolder, OutputFolder} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			for _, made := range []string{TrialsFolder, OutputFolder} {
				os.Remove(filepath.Join(dir, made)) // if it was made
			}
			s.removeMade()
			return Folder{}, fmt.Errorf("making the experiment's folder: %w; give another with -o", err)
		}
	}
	return s, nil
}

// missingFolders are dir and the folders above it that do not exist, dir first.
func missingFolders(dir string) (all []string) {
	for {
		_, err := os.Lstat(dir)
		above := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || above == dir {
			return all
		}
		all, dir = append(all, dir), above
	}
}

// removeMade removes the folders that were made, as far as nothing else is in them.
func (s Folder) removeMade() {
	for _, dir := range s.made {
		os.Remove(dir) // which fails of one that is not empty
	}
}

// lockName is the file that a process locks while it works in the folder.
const lockName = ".lock"

// Lock locks the folder for this process, until Unlock or until the process ends.
func (s *Folder) Lock() (err error) {
	s.locked, err = os.OpenFile(filepath.Join(s.Dir, lockName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("opening the experiment's folder: %w", err)
	}
	if err := lockFile(s.locked); err != nil {
		s.locked.Close()
		s.locked = nil
		return fmt.Errorf("%s is in use by another dyno; wait until it has ended", s.Dir)
	}
	return nil
}

// IsLocked reports whether this process has locked the folder.
func (s Folder) IsLocked() bool { return s.locked != nil }

// LockFolder locks an experiment's folder until release is called.
func LockFolder(dir string) (release func() error, err error) {
	s := Folder{Dir: dir}
	if err := s.Lock(); err != nil {
		return nil, err
	}
	return s.Unlock, nil
}

// ClearUnbegun empties a folder whose experiment ended before its first trial, so that it can be
// given again. source is the file's name beside SourceFile, of which it is a copy. Nothing changes
// where anything was measured, changed or added; where a process works in it; and on systems where
// that cannot be known.
func ClearUnbegun(dir, source string, others ...string) error {
	if !canLock || !isAsMade(dir, append([]string{source}, others...)) {
		return nil // CheckNew says what is wrong
	}
	s := Folder{Dir: dir}
	if err := s.Lock(); err != nil {
		return err
	}
	r, err := ReadRecord(dir)
	trials, listed := os.ReadDir(filepath.Join(dir, TrialsFolder))
	made, read := os.ReadFile(filepath.Join(dir, SourceFile))
	now, found := os.ReadFile(filepath.Join(dir, source))
	if errors.Join(err, listed, read, found) != nil || r.HasMeasured() || len(trials) > 0 ||
		!bytes.Equal(made, now) {
		return s.Unlock()
	}
	return errors.Join(s.Clear(), s.Unlock())
}

// isAsMade reports whether a folder has only what an experiment makes before its first trial, and
// others.
func isAsMade(dir string, others []string) bool {
	known := append([]string{RecordFile, SourceFile, TrialsFolder, OutputFolder, lockName}, others...)
	entries, err := os.ReadDir(dir)
	outputs, listed := os.ReadDir(filepath.Join(dir, OutputFolder))
	return err == nil && listed == nil &&
		!slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return !slices.Contains(known, e.Name())
		}) &&
		!slices.ContainsFunc(outputs, func(e fs.DirEntry) bool {
			return filepath.Ext(e.Name()) != ".log"
		})
}

// Clear leaves a folder whose experiment could not begin as CreateFolder found it: empty, or not
// there.
func (s Folder) Clear() (err error) {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.Dir, e.Name())))
	}
	s.removeMade()
	return err
}

// Unlock unlocks the folder.
func (s Folder) Unlock() error {
	if s.locked == nil {
		return nil
	}
	return s.locked.Close()
}

// WriteJSON writes v to a file of the folder, completely or not at all.
func (s Folder) WriteJSON(name string, v any) error {
	b, err := StoredJSON(v)
	if err != nil {
		return fmt.Errorf("storing %s: %w", name, err)
	}
	return s.WriteFile(name, b)
}

// StoredJSON is v as a JSON file of an experiment's folder has it.
func StoredJSON(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", " ")
	return append(b, '\n'), err
}

// WriteFile writes b to a file of the folder, completely or not at all.
func (s Folder) WriteFile(name string, b []byte) error {
	path := filepath.Join(s.Dir, name)
	if err := atomicfile.Replace(path, 0o666, atomicfile.ContentWriter(b)); err != nil {
		return fmt.Errorf("storing %s: %w", name, err)
	}
	return nil
}

// StoreTrial stores a trial. It fails if the trial is stored already.
func (s Folder) StoreTrial(t *Trial) error {
	name := filepath.Join(TrialsFolder, t.ID+".json")
	if _, err := os.Lstat(filepath.Join(s.Dir, name)); err == nil {
		return fmt.Errorf("storing %s: it is there already", name)
	}
	if t.Result != nil {
		if err := dynohome.SaveData(s.Dir, &t.Result.Plan); err != nil {
			return fmt.Errorf("storing %s: %w", name, err)
		}
		t.Result.Plan.Forget()
	}
	return s.WriteJSON(name, t)
}

// ReadTrials returns all stored trials, in the order in which they ran. A file that cannot be read
// is an error; if the user removes it, its trial is run again.
func (s Folder) ReadTrials() ([]*Trial, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, TrialsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the trials: %w", err)
	}
	var all []*Trial
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		t := new(Trial)
		if err := s.readFormat(filepath.Join(TrialsFolder, e.Name()), TrialFormat, t); err != nil {
			return nil, err
		}
		t.Meanwhile = nil
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b *Trial) int { return a.Started.Compare(b.Started) })
	return all, nil
}

// readRecord reads the folder's record into v.
func (s Folder) readRecord(v any) error {
	err := s.readFormat(RecordFile, ExperimentFormat, v)
	if errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%s is a file; give the experiment's folder", s.Dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is no experiment's folder: it has no %s", s.Dir, RecordFile)
	}
	return err
}

// readFormat reads a file into v if it has that format.
func (s Folder) readFormat(name, format string, v any) error {
	path := filepath.Join(s.Dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var head struct{ Format string }
	if err := json.Unmarshal(b, &head); err != nil {
		return damagedError(name, path, err)
	}
	if head.Format != format {
		return fmt.Errorf("%s: its format is %q, not %q; another version of dyno wrote it",
			path, head.Format, format)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return damagedError(name, path, err)
	}
	return nil
}

// damagedError says what the user can do about a damaged file. Only a trial can be run again.
func damagedError(name, path string, err error) error {
	if name == RecordFile {
		return fmt.Errorf("%s is damaged: %w; put it back from a copy or from what dyno export wrote: "+
			"the trials beside it are as they were", path, err)
	}
	return fmt.Errorf("%s is damaged: %w; remove it, and --resume runs that trial again", path, err)
}

// IsExperiment reports whether dir is an experiment's folder.
func IsExperiment(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, RecordFile))
	return err == nil
}
