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

	"dyno/internal/atomicfile"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

// A file is a file to export: its path, and its name in the export.
type file struct{ path, name string }

// A Damaged is a file, or an experiment's folder, that an export leaves out because import would
// refuse it.
type Damaged struct {
	Path string
	Err  error
}

// Export writes a tar archive, compressed with gzip: the results and experiments with those IDs, or
// all if there are none, with notes and profiles. If everything is damaged, it writes nothing.
func (s *Store) Export(w io.Writer, ids []string) (n int, damaged []Damaged, err error) {
	files, n, damaged, err := s.filesToExport(ids)
	if err != nil {
		return 0, damaged, err
	}
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		if err := f.writeTo(archive); err != nil {
			return 0, damaged, fmt.Errorf("exporting %s: %w", f.path, err)
		}
	}
	return n, damaged, errors.Join(archive.Close(), zipped.Close())
}

// ExportDir writes the same files into a folder, which must be empty or missing.
func (s *Store) ExportDir(dir string, ids []string) (n int, damaged []Damaged, err error) {
	files, n, damaged, err := s.filesToExport(ids)
	if err != nil {
		return 0, damaged, err
	}
	entries, missing := os.ReadDir(dir)
	if missing == nil && len(entries) > 0 {
		return 0, damaged, fmt.Errorf("%s is not empty; give another folder", dir)
	}
	for i, f := range files {
		to := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := copyFile(f.path, to, archiveFile); err != nil {
			removeCopied(dir, files[:i], f)
			if missing != nil {
				os.Remove(dir) // fails if another process has put something there
			}
			return 0, damaged, fmt.Errorf("exporting %s: %w", f.path, err)
		}
	}
	return n, damaged, nil
}

// removeCopied removes files from a folder, with the folders in it that become empty, so that the
// folder can be given again. failed is the file that could not be written.
func removeCopied(dir string, files []file, failed file) {
	for _, f := range files {
		os.Remove(filepath.Join(dir, filepath.FromSlash(f.name)))
	}
	for _, f := range append(files, failed) {
		for in := filepath.Dir(filepath.FromSlash(f.name)); in != "."; in = filepath.Dir(in) {
			os.Remove(filepath.Join(dir, in)) // fails if it is not empty
		}
	}
}

// filesToExport are the files of results and experiments, and the number of these.
func (s *Store) filesToExport(ids []string) (all []file, n int, damaged []Damaged, err error) {
	everything := len(ids) == 0
	if everything {
		if ids, err = s.storedIDs(); err != nil {
			return nil, 0, nil, err
		}
	}
	data := map[string]bool{}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue // each is exported once
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
		changes, err := filesBelow(s.pathOf("changes"), "changes")
		if err != nil {
			return nil, 0, nil, err
		}
		for _, f := range changes {
			if err := checkContent(f.path, checkChange); err != nil {
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

// storedIDs are the IDs of all results and experiments.
func (s *Store) storedIDs() (all []string, err error) {
	for _, k := range []kind{kinds[0], kinds[2]} {
		entries, err := os.ReadDir(s.pathOf(k.folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			path, is := k.indexPath(e)
			if _, err := os.Stat(s.pathOf(path)); is && err == nil {
				id, _ := k.idOf(path)
				all = append(all, id)
			}
		}
	}
	return all, nil
}

// filesOf are the files of a result or an experiment, with the data that it refers to unless that
// is in had; none if it is damaged.
func (s *Store) filesOf(id string, had map[string]bool) (all []file, damaged []Damaged, err error) {
	if path := s.pathOf("results", id+".json"); filepath.IsLocal(id) && isThere(path) {
		all, damaged = s.filesOfResult(path, id, had)
		return all, damaged, nil
	}
	dir := s.pathOf("experiments", id)
	if !isFolder(id) || !isThere(filepath.Join(dir, "experiment.json")) {
		return nil, nil, fmt.Errorf("%q is neither a result nor an experiment that is stored in %s", id,
			s.home)
	}
	if err := checkExperiment(dir); err != nil {
		return nil, []Damaged{{dir, err}}, nil
	}
	all, err = filesOfExperiment(dir, "experiments/"+id)
	return all, nil, err
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// filesOfResult are the file of a result, and those that belong to it.
func (s *Store) filesOfResult(path, id string, had map[string]bool) (all []file,
	damaged []Damaged) {
	var r *result.Result
	err := checkContent(path, func(content []byte) (err error) {
		r, err = decodeResult(content)
		return err
	})
	if err != nil {
		return nil, []Damaged{{path, err}}
	}
	all, damaged = s.filesOfData(r.Plan.Data, had)
	names := []string{id + ".json"}
	note := s.pathOf("results", id+".note")
	if err := checkContent(note, checkNoteContent); err == nil {
		names = append(names, id+".note")
	} else if !errors.Is(err, fs.ErrNotExist) {
		damaged = append(damaged, Damaged{note, err})
	}
	for _, p := range profileFiles(s.pathOf("results"), id) {
		if err := checkSize(p, profile.MaxEncoded); err != nil {
			damaged = append(damaged, Damaged{p, err})
		} else {
			names = append(names, filepath.Base(p))
		}
	}
	for _, name := range names {
		all = append(all, file{s.pathOf("results", name), "results/" + name})
	}
	return all, damaged
}

// checkContent reports what is wrong with a file's content.
func checkContent(path string, check func([]byte) error) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return check(content)
}

func checkNoteContent(content []byte) error { return checkNote(string(content)) }

func checkChange(content []byte) error {
	_, err := decodeChange(content)
	return err
}

// profileFiles are the files of a result's profiles, in the same folder.
func profileFiles(dir, id string) (all []string) {
	for _, kind := range []profile.Kind{profile.CPU, profile.Heap, profile.Allocs, profile.Mutex,
		profile.Block, profile.Goroutine} {
		p := filepath.Join(dir, id+"."+string(kind)+".pb.gz")
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() {
			all = append(all, p)
		}
	}
	return all
}

// filesBelow are the files below dir, named below name, sorted. It leaves out names that begin with
// a dot (locks, and files that are being written) and what an experiment has built.
func filesBelow(dir, name string) (all []file, err error) {
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

func (f file) writeTo(to *tar.Writer) error {
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

// copyFile copies a file of at most that many bytes completely, or not at all. It replaces no file.
func copyFile(from, to string, most int64) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return atomicfile.Create(to, copyOf(from, most))
}

// copyOf returns what copies a file, for atomicfile. A file with more than that many bytes is an
// error.
func copyOf(file string, most int64) func(io.Writer) error {
	return func(to io.Writer) error {
		from, err := os.Open(file)
		if err != nil {
			return err
		}
		defer from.Close()
		n, err := io.Copy(to, io.LimitReader(from, most+1))
		if err == nil && n > most {
			err = fmt.Errorf("%s has more than %d bytes, too many to copy", file, most)
		}
		return err
	}
}
