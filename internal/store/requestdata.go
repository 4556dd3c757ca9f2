package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
)

// filesOfData returns the file with a result's data, unless its SHA256 is in had. A result whose
// data is missing or damaged is exported without the data.
func (s *Store) filesOfData(d *loadplan.Data, had map[string]bool) (all []file, damaged []Damaged) {
	if d == nil || had[d.SHA256] {
		return nil, nil
	}
	had[d.SHA256] = true
	path := dynohome.DataFile(s.home, d.SHA256)
	from, err := openData(path, d.Bytes)
	if err == nil {
		err = errors.Join(dynohome.CheckData(*d, from), from.Close())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("requests that results refer to are missing; the results are exported " +
			"without them")
	}
	if err != nil {
		return nil, []Damaged{{path, err}}
	}
	return []file{{path, "data/sha256/" + filepath.Base(path)}}, nil
}

// importData stores the data of a result from where a store has it, unless that was tried already,
// and then calls the function that stores the result. Missing data is no error.
func (s *Store) importData(path string, d *loadplan.Data, tried map[string]bool,
	store func() error) (all []Imported, err error) {
	if d == nil {
		return nil, store()
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	release, err := dynohome.ShareData(s.home)
	if err != nil {
		return nil, err
	}
	defer release()
	file := dynohome.DataFile(filepath.Dir(filepath.Dir(full)), d.SHA256)
	if !tried[file] {
		tried[file] = true
		out := Imported{From: file, What: "data", ID: d.SHA256}
		out.Same, out.Err = s.storeData(file, *d)
		if !out.Same && !errors.Is(out.Err, fs.ErrNotExist) {
			all = append(all, out)
		}
	}
	return all, store()
}

func (s *Store) storeData(file string, d loadplan.Data) (same bool, err error) {
	from, err := openData(file, d.Bytes)
	if err != nil {
		return false, err
	}
	defer from.Close()
	return dynohome.ImportData(s.home, d, from)
}

// openData opens a file of data, which must be a regular file of that size.
func openData(path string, size int64) (io.ReadCloser, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("is a link, or no regular file; data is in files of its own")
	case info.Size() > archiveFile:
		return nil, fmt.Errorf("has %d bytes; an archive takes at most %d", info.Size(),
			int64(archiveFile))
	case info.Size() != size:
		return nil, fmt.Errorf("it has %d bytes, and its result says %d", info.Size(), size)
	}
	return os.Open(path)
}

// checkDataOf reports data in an experiment's folder whose content does not match its name.
func checkDataOf(dir string) error {
	entries, err := entriesOf(dynohome.DataFolder(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		sum, _, _ := strings.Cut(e.Name(), ".")
		if !e.Type().IsRegular() || sum == "" {
			continue
		}
		path := filepath.Join(dynohome.DataFolder(dir), e.Name())
		size := sizeOf(path)
		from, err := openData(path, size)
		if err == nil {
			data := loadplan.Data{SHA256: sum, Bytes: size}
			err = errors.Join(dynohome.CheckData(data, from), from.Close())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
