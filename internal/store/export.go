package store

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

// A file is one that is exported: where it lies, and its name among the others.
type file struct{ path, name string }

// A Damaged file, or folder of an experiment, is left out of an export: import would refuse it.
type Damaged struct {
	Path string
	Err  error
}

// Export writes what is stored as a tar archive, compressed with gzip: results and
// experiments of those IDs, or without any all there is, with notes and profiles. If all of
// it is damaged, nothing is written.
func (s *Store) Export(w io.Writer, ids []string) (n int, damaged []Damaged, err error) {
	files, n, damaged, err := s.files(ids)
	if err != nil {
		return 0, damaged, err
	}
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		if err := f.archive(archive); err != nil {
			return 0, damaged, fmt.Errorf("exporting %s: %w", f.path, err)
		}
	}
	return n, damaged, errors.Join(archive.Close(), zipped.Close())
}

// ExportDir writes the same files into a folder, which must be empty or not be there.
func (s *Store) ExportDir(dir string, ids []string) (n int, damaged []Damaged, err error) {
	files, n, damaged, err := s.files(ids)
	if err != nil {
		return 0, damaged, err
	}
	entries, missing := os.ReadDir(dir)
	if missing == nil && len(entries) > 0 {
		return 0, damaged, fmt.Errorf("%s is not empty; give another folder", dir)
	}
	for i, f := range files {
		if err := copyFile(f.path, filepath.Join(dir, filepath.FromSlash(f.name))); err != nil {
			takeBack(dir, files[:i], f)
			if missing != nil {
				os.Remove(dir) // fails if somebody else has put something there
			}
			return 0, damaged, fmt.Errorf("exporting %s: %w", f.path, err)
		}
	}
	return n, damaged, nil
}

// takeBack removes files from a folder, and from there to it the folders that are empty then, also
// those of one that could not be written: so that the folder can be given again.
func takeBack(dir string, files []file, failed file) {
	for _, f := range files {
		os.Remove(filepath.Join(dir, filepath.FromSlash(f.name)))
	}
	for _, f := range append(files, failed) {
		for in := filepath.Dir(filepath.FromSlash(f.name)); in != "."; in = filepath.Dir(in) {
			os.Remove(filepath.Join(dir, in)) // fails of one that is not empty
		}
	}
}

// files are those of results and experiments, and how many of these there are.
func (s *Store) files(ids []string) (all []file, n int, damaged []Damaged, err error) {
	everything := len(ids) == 0
	if everything {
		if ids, err = s.ids(); err != nil {
			return nil, 0, nil, err
		}
	}
	data := map[string]bool{}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue // each once, however often it was asked for
		}
		of, bad, err := s.filesOf(id, data)
		if err != nil {
			return nil, 0, nil, err
		}
		if damaged = append(damaged, bad...); len(of) > 0 {
			all, n = append(all, of...), n+1
		}
	}
	if everything {
		changes, err := walk(s.file("changes"), "changes")
		if err != nil {
			return nil, 0, nil, err
		}
		for _, f := range changes {
			if err := sound(f.path, soundChange); err != nil {
				damaged = append(damaged, Damaged{f.path, err})
			} else {
				all = append(all, f)
			}
		}
	}
	if len(all) == 0 && len(damaged) > 0 {
		err = errors.New("exporting: all of it is damaged")
	}
	return all, n, damaged, err
}

// ids are those of all results and experiments.
func (s *Store) ids() (all []string, err error) {
	for _, k := range []kind{kinds[0], kinds[2]} {
		entries, err := os.ReadDir(s.file(k.folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			path, is := k.path(e)
			if _, err := os.Stat(s.file(path)); is && err == nil {
				id, _ := k.id(path)
				all = append(all, id)
			}
		}
	}
	return all, nil
}

// filesOf are the files of one result or experiment, with the data that it refers to and that is
// not had yet; none if it is damaged.
func (s *Store) filesOf(id string, had map[string]bool) (all []file, damaged []Damaged, err error) {
	if path := s.file("results", id+".json"); filepath.IsLocal(id) && isThere(path) {
		all, damaged = s.filesOfResult(path, id, had)
		return all, damaged, nil
	}
	dir := s.file("experiments", id)
	if !isFolder(id) || !isThere(filepath.Join(dir, "experiment.json")) {
		return nil, nil, fmt.Errorf("%q is neither a result nor an experiment that is stored in %s", id,
			s.home)
	}
	if err := checkExperiment(dir); err != nil {
		return nil, []Damaged{{dir, err}}, nil
	}
	all, err = walk(dir, "experiments/"+id)
	return all, nil, err
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// filesOfResult are a result's own, and those that lie beside it.
func (s *Store) filesOfResult(path, id string, had map[string]bool) (all []file,
	damaged []Damaged) {
	var r *result.Result
	err := sound(path, func(content []byte) (err error) {
		r, err = decode(content)
		return err
	})
	if err != nil {
		return nil, []Damaged{{path, err}}
	}
	all, damaged = s.filesOfData(r.Plan.Data, had)
	names := []string{id + ".json"}
	note := s.file("results", id+".note")
	if err := sound(note, soundNote); err == nil {
		names = append(names, id+".note")
	} else if !errors.Is(err, fs.ErrNotExist) {
		damaged = append(damaged, Damaged{note, err})
	}
	for _, p := range profiles(s.file("results"), id) {
		names = append(names, filepath.Base(p))
	}
	for _, name := range names {
		all = append(all, file{s.file("results", name), "results/" + name})
	}
	return all, damaged
}

// sound reports what is wrong with what a file holds.
func sound(path string, check func([]byte) error) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return check(content)
}

func soundNote(content []byte) error { return checkNote(string(content)) }

func soundChange(content []byte) error {
	_, err := decodeChange(content)
	return err
}

// profiles are the files of a result's profiles, which lie beside it.
func profiles(dir, id string) (all []string) {
	for _, kind := range []profile.Kind{profile.CPU, profile.Heap, profile.Allocs, profile.Mutex,
		profile.Block, profile.Goroutine} {
		p := filepath.Join(dir, id+"."+string(kind)+".pb.gz")
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() {
			all = append(all, p)
		}
	}
	return all
}

// walk are the files below dir, named below name, sorted: but for those that begin with
// a dot, which are being written or locks, and what an experiment has built.
func walk(dir, name string) (all []file, err error) {
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case p == dir && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case p != dir && (strings.HasPrefix(e.Name(), ".") || e.IsDir() && e.Name() == "build"):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular():
			return nil
		}
		below, err := filepath.Rel(dir, p)
		all = append(all, file{p, path.Join(name, filepath.ToSlash(below))})
		return err
	})
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all, err
}

func (f file) archive(to *tar.Writer) error {
	from, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	err = to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o600,
		Size: info.Size(), ModTime: info.ModTime()})
	if err != nil {
		return err
	}
	_, err = io.CopyN(to, from, info.Size())
	return err
}

// copyFile makes a copy of a file, whole, where there is none.
func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return put(to, content)
}
