package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

// An Imported is the outcome of one imported item.
type Imported struct {
	From string // its file or folder
	What string // result, data, note, experiment or change point
	ID   string // under which it is stored
	Same bool   // it was there already
	Err  error  // why it is not stored; it replaces only its own earlier state
}

// Import stores what was measured elsewhere: a result's file, an experiment's folder, what Export
// made, or a folder of results. Each is stored completely or not at all, whatever happens to the
// others. An error concerns path itself.
func (s *Store) Import(path string) ([]Imported, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var all []Imported
	switch name := strings.ToLower(path); {
	case info.IsDir():
		all, err = s.importDir(path)
	case strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz"):
		all, err = s.importArchive(path)
	default:
		all = s.importFile(path, map[string]bool{})
	}
	if err == nil && len(all) == 0 {
		err = errors.New("it has neither results nor experiments")
	}
	if err != nil {
		err = fmt.Errorf("importing %s: %w", path, err)
	}
	return all, errors.Join(err, s.Refresh())
}

func (s *Store) importArchive(path string) ([]Imported, error) {
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.home, ".import-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	release, err := lab.LockFolder(dir) // against Collect
	if err != nil {
		return nil, err
	}
	defer release()
	if err := unpack(path, dir, roomIn(dir)); err != nil {
		return nil, err
	}
	all, err := s.importDir(dir)
	for i := range all {
		all[i].From = path + strings.TrimPrefix(all[i].From, dir)
	}
	return all, err
}

// importDir imports a folder of any of these kinds.
func (s *Store) importDir(dir string) (all []Imported, err error) {
	if lab.IsExperiment(dir) {
		return []Imported{s.importExperiment(dir)}, nil
	}
	tried := map[string]bool{}
	for _, sub := range []string{"", "results", "changes"} {
		files, err := importableFiles(filepath.Join(dir, sub))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			all = append(all, s.importFile(f, tried)...)
		}
	}
	folders, err := os.ReadDir(filepath.Join(dir, "experiments"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range folders {
		if sub := filepath.Join(dir, "experiments", e.Name()); lab.IsExperiment(sub) {
			all = append(all, s.importExperiment(sub))
		}
	}
	return all, nil
}

// importableFiles are the files in dir that may be results or change points.
func importableFiles(dir string) (all []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".")
		if filepath.Ext(e.Name()) == ".json" && !hidden && e.Type().IsRegular() {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all, nil
}

// importFile imports a change point, or a result with the files that belong to it and the data it
// refers to, unless that was tried.
func (s *Store) importFile(path string, tried map[string]bool) []Imported {
	out := Imported{From: path, What: "result"}
	content, err := readBounded(path, longestResult)
	if err != nil {
		out.Err = err
		return []Imported{out}
	}
	var head struct{ Format string }
	if json.Unmarshal(content, &head) == nil && head.Format == ChangeFormat {
		return []Imported{s.importChange(path, content)}
	}
	r, err := decodeResult(content)
	if err != nil {
		out.Err = err
		return []Imported{out}
	}
	all, err := s.importData(path, r.Plan.Data, tried, func() error {
		return s.importResult(&out, r, content)
	})
	out.Err = err
	if all = append(all, out); err != nil {
		return all
	}
	return append(all, s.importBeside(path, out.ID)...)
}

// importBeside imports the note and the profiles in the folder of a result's file.
func (s *Store) importBeside(path, id string) (all []Imported) {
	base := strings.TrimSuffix(path, filepath.Ext(path))
	note, err := readBounded(base+".note", longestNote)
	if err == nil && len(note) > 0 {
		all = append(all, s.importNote(base+".note", id, string(note)))
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		all = append(all, Imported{From: base + ".note", What: "note", ID: id, Err: err})
	}
	for _, p := range profileFiles(filepath.Dir(path), filepath.Base(base)) {
		to := s.pathOf("results", id+strings.TrimPrefix(filepath.Base(p), filepath.Base(base)))
		err := checkSize(p, profile.MaxEncoded)
		if err == nil {
			err = copyFile(p, to, profile.MaxEncoded)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			all = append(all, Imported{From: p, What: "profile", ID: id, Err: err})
		}
	}
	return all
}

// longestResult is the size of the largest result that is imported, in bytes. Results of older
// versions contain all their requests.
const longestResult = 128 << 20

// readBounded reads a regular file of at most that many bytes. It follows no link.
func readBounded(path string, most int64) ([]byte, error) {
	if err := checkSize(path, most); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// decodeResult reads a result, which must be one that dyno can have written.
func decodeResult(content []byte) (*result.Result, error) {
	r, err := result.Decode(content)
	if err == nil {
		err = result.Check(r)
	}
	return r, err
}

// importResult stores a result under its ID. A result without an ID gets one, unless the same
// result is already stored.
func (s *Store) importResult(out *Imported, r *result.Result, content []byte) error {
	if r.ID == "" {
		had, err := s.findTwin(r)
		if err != nil || had != "" {
			out.ID, out.Same = had, had != ""
			return err
		}
		_, err = dynohome.Save(s.home, r)
		out.ID = r.ID
		return err
	}
	out.ID = r.ID
	if err := os.MkdirAll(s.pathOf("results"), 0o700); err != nil {
		return err
	}
	path := s.pathOf("results", r.ID+".json")
	err := createFile(path, content)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	had, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is being stored by another dyno; import it again", r.ID)
	}
	if err != nil {
		return err
	}
	if out.Same = sameResult(had, content); !out.Same {
		return fmt.Errorf("another result is stored as %s, and is kept; remove %s to have this one",
			r.ID, path)
	}
	return nil
}

// findTwin is the ID of a stored result that equals r except for its ID; "" if there is none.
func (s *Store) findTwin(r *result.Result) (id string, err error) {
	all, err := s.Entries()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := result.Encode(&b, r); err != nil {
		return "", err
	}
	for _, e := range all {
		if !e.Started.Equal(r.Window.Started) {
			continue
		}
		if had, err := os.ReadFile(e.Path); err == nil && sameResult(had, b.Bytes()) {
			return e.ID, nil
		}
	}
	return "", nil
}

// sameResult reports whether two files contain the same result, whatever their formatting and IDs.
func sameResult(a, b []byte) bool {
	var text [2]bytes.Buffer
	for i, content := range [][]byte{a, b} {
		r, err := result.Decode(content)
		if err != nil {
			return false
		}
		r.ID = ""
		if err := result.Encode(&text[i], r); err != nil {
			return false
		}
	}
	return bytes.Equal(text[0].Bytes(), text[1].Bytes())
}

func (s *Store) importNote(path, id, text string) Imported {
	out := Imported{From: path, What: "note", ID: id}
	text = strings.TrimSpace(text)
	if out.Err = checkNote(text); out.Err != nil {
		return out
	}
	to := s.pathOf("results", id+".note")
	if out.Err = createFile(to, []byte(text+"\n")); !errors.Is(out.Err, fs.ErrExist) {
		return out
	}
	had, err := os.ReadFile(to)
	out.Same, out.Err = strings.TrimSpace(string(had)) == text, err
	if !out.Same && err == nil {
		out.Err = fmt.Errorf("another note on %s is stored, and is kept", id)
	}
	return out
}

func (s *Store) importChange(path string, content []byte) Imported {
	out := Imported{From: path, What: "change point"}
	c, err := decodeChange(content)
	if err != nil {
		out.Err = err
		return out
	}
	out.ID = c.ID
	if out.Err = os.MkdirAll(s.pathOf("changes"), 0o700); out.Err != nil {
		return out
	}
	to := s.pathOf("changes", c.ID+".json")
	if out.Err = createFile(to, content); !errors.Is(out.Err, fs.ErrExist) {
		return out
	}
	had, err := os.ReadFile(to)
	out.Same, out.Err = bytes.Equal(had, content), err
	if !out.Same && err == nil {
		out.Err = fmt.Errorf("another change point was published as %s, and stays", c.ID)
	}
	return out
}
