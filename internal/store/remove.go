package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dyno/internal/lab"
)

// A Removed is something that is stored no more, or would not be.
type Removed struct {
	Path  string
	What  string // result, experiment, data, note, profile or leftover
	Bytes int64
}

// removing is what a folder's name begins with while what is in it is removed.
const removing = ".removing-"

// Remove removes a result, with its note and profiles, or an experiment in which no dyno works.
// Data that it refers to stays until Collect; change points stay as they were published.
func (s *Store) Remove(id string) (Removed, error) {
	path := s.pathOf("results", id+".json")
	if resultID().MatchString(id) && isThere(path) {
		out := Removed{path, "result", sizeOf(path)}
		if err := os.Remove(path); err != nil { // first: what is left of it is a leftover
			return out, fmt.Errorf("removing result %s: %w", id, err)
		}
		for _, p := range append(profileFiles(s.pathOf("results"), id), s.pathOf("results", id+".note")) {
			n := sizeOf(p)
			if err := os.Remove(p); err == nil {
				out.Bytes += n
			} else if !errors.Is(err, fs.ErrNotExist) {
				return out, fmt.Errorf("removing result %s: %w", id, err)
			}
		}
		return out, s.updateIndex([]string{"results/" + id + ".json", "results/" + id + ".note"})
	}
	dir := s.pathOf("experiments", id)
	if !isFolder(id) || !isThere(filepath.Join(dir, "experiment.json")) {
		return Removed{}, fmt.Errorf("%q is neither a result nor an experiment that is stored in %s",
			id, s.home)
	}
	return s.removeExperiment(id, dir)
}

func (s *Store) removeExperiment(id, dir string) (out Removed, err error) {
	size, err := folderSize(dir)
	out = Removed{dir, "experiment", size}
	if err != nil {
		return out, fmt.Errorf("removing experiment %s: %w", id, err)
	}
	release, err := lab.LockFolder(dir)
	if err != nil {
		return out, fmt.Errorf("removing experiment %s: %w", id, err)
	}
	gone := s.pathOf("experiments", removing+id)
	err = os.Rename(dir, gone) // at once: no half of it is ever listed
	if err = errors.Join(err, release()); err == nil {
		err = os.RemoveAll(gone)
	}
	if err != nil {
		return out, fmt.Errorf("removing experiment %s: %w", id, err)
	}
	return out, s.updateIndex([]string{"experiments/" + id + "/experiment.json"})
}
