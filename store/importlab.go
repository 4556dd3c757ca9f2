package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"dyno/lab"
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
		if same, err = sameFiles(files, to); err == nil && !same {
			err = fmt.Errorf("another experiment is stored as %s, and is kept; rename one of them", name)
		}
		return same, err
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

// checkExperiment reads what the folder says and each of its trials.
func checkExperiment(dir string) error {
	content, err := os.ReadFile(filepath.Join(dir, "experiment.json"))
	if err != nil {
		return err
	}
	if _, err := experimentRows("", content); err != nil {
		return err
	}
	trials, err := os.ReadDir(filepath.Join(dir, "trials"))
	if err != nil || len(trials) == 0 {
		return nil // it was ended before the first
	}
	_, err = lab.ReadGroup(dir, dir, "")
	return err
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
		a, err := os.ReadFile(f.path)
		if err != nil {
			return false, err
		}
		b, err := os.ReadFile(had[i].path)
		if err != nil || !bytes.Equal(a, b) {
			return false, err
		}
	}
	return true, nil
}
