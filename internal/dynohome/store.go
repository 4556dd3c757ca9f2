// Package dynohome has the files that dyno keeps in $DYNO_HOME, its home: results, the requests
// that results share, and the key of the marks that replace secrets. Package result knows what is
// in a result, and package store has the index of all of them.
//
//	results   store.go: saved under an ID, opened by an ID, its beginning or "last"
//	requests  requestdata.go: files by SHA256, requestdata_unix.go locks them,
//	          which requestdata_other.go does not
//	secrets   redactkey.go: the key, and marks by it
//	modes     filemodes.go: makes private what an older version left open
package dynohome

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"dyno/internal/atomicfile"
	"dyno/internal/result"
)

// Dir is the directory in which dyno stores its files: $DYNO_HOME, or the platform's place for a
// user's data. It need not exist.
func Dir() (string, error) {
	if d := os.Getenv("DYNO_HOME"); d != "" {
		return d, nil
	}
	// The specification says that a relative $XDG_DATA_HOME must be ignored.
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "dyno"), nil
	}
	if d := os.Getenv("LocalAppData"); runtime.GOOS == "windows" && d != "" {
		return filepath.Join(d, "dyno"), nil
	}
	d, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding a place to store results: %w; set DYNO_HOME", err)
	}
	return filepath.Join(d, ".local", "share", "dyno"), nil
}

const suffix = ".json"

func resultsFolder(home string) string { return filepath.Join(home, "results") }

// An ID is the instant at which the load began, in ticks. If it is taken the next one is tried,
// that many times at most.
const (
	tick     = time.Second / (1 << 16)
	attempts = 1 << 10
)

func idOf(start time.Time) string {
	return fmt.Sprintf("%s-%04x", start.UTC().Format("20060102-150405"),
		start.Nanosecond()*(1<<16)/int(time.Second))
}

// Save stores r under home, in one file, completely or not at all, and sets its ID. It also stores
// a profile that was taken, and the data of its plan. IDs sort by the time the load began (UTC).
// None is ever given twice.
func Save(home string, r *result.Result) (path string, err error) {
	dir := resultsFolder(home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", notStored(err)
	}
	if r.Plan.Data != nil {
		release, err := ShareData(home)
		if err != nil {
			return "", notStored(err)
		}
		defer release()
		if err := SaveData(home, &r.Plan); err != nil {
			return "", notStored(err)
		}
	}
	for i := range attempts {
		id := idOf(r.Window.Started.Add(time.Duration(i) * (tick + 1)))
		path = filepath.Join(dir, id+suffix)
		err = saveAs(path, id, r)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", notStored(err)
	}
	return path, nil
}

func notStored(err error) error {
	return fmt.Errorf("the result was not stored: %w; name another place with DYNO_HOME, or store "+
		"none with --no-save", err)
}

// saveAs fails with fs.ErrExist if the ID is taken.
func saveAs(path, id string, r *result.Result) error {
	ours := false
	err := atomicfile.Create(path, func(w io.Writer) error {
		ours, r.ID = true, id
		r.SaveProfile(strings.TrimSuffix(path, suffix))
		return result.Encode(w, r)
	})
	if err != nil && ours {
		r.ID = ""
		r.DiscardProfile()
	}
	return err
}

// Open reads a stored result: idOrPath is a file, an ID, the beginning of an
// ID that no other shares, or "last".
func Open(home, idOrPath string) (*result.Result, error) {
	path, err := findResult(home, idOrPath)
	if err != nil {
		return nil, err
	}
	b, err := result.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := result.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	locateData(r, home, path)
	return r, nil
}

// OpenID reads the stored result with exactly that ID. It looks among the existing results, and
// never takes the ID for a file name. The error is fs.ErrNotExist if there is none.
func OpenID(home, id string) (*result.Result, error) {
	ids, err := storedIDs(home)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(ids, id) {
		return nil, fmt.Errorf("no result %q is stored in %s: %w", id, resultsFolder(home),
			fs.ErrNotExist)
	}
	return Open(home, filepath.Join(resultsFolder(home), id+suffix))
}

// ID is the only stored ID that begins with id, or that of the newest result for "last".
func ID(home, id string) (string, error) {
	path, err := matchID(home, id)
	return strings.TrimSuffix(filepath.Base(path), suffix), err
}

func findResult(home, idOrPath string) (path string, err error) {
	info, err := os.Stat(idOrPath)
	file := err == nil && info.Mode().IsRegular()
	if file || strings.ContainsAny(idOrPath, `/\`) || strings.HasSuffix(idOrPath, suffix) {
		return idOrPath, nil
	}
	return matchID(home, idOrPath)
}

// matchID is the file of the only stored result whose ID is idOrPath or begins with it.
func matchID(home, idOrPath string) (path string, err error) {
	ids, err := storedIDs(home)
	if err != nil {
		return "", err
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("result %q: there is no such file, and none is stored in %s",
			idOrPath, resultsFolder(home))
	}
	matches := ids[:1]
	if idOrPath != "last" {
		matches = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			return !strings.HasPrefix(id, idOrPath)
		})
	}
	switch {
	case slices.Contains(matches, idOrPath):
		return filepath.Join(resultsFolder(home), idOrPath+suffix), nil
	case len(matches) == 1:
		return filepath.Join(resultsFolder(home), matches[0]+suffix), nil
	case len(matches) == 0:
		return "", fmt.Errorf("result %q: there is no such file, and no stored one has an ID that "+
			"begins so; the last is %s, and \"last\" means it", idOrPath, ids[0])
	}
	return "", fmt.Errorf("result %q: %d stored ones have an ID that begins so, such as %s and %s; "+
		"give more of it", idOrPath, len(matches), matches[0], matches[1])
}

// storedIDs are the IDs of all stored results, newest first.
func storedIDs(home string) ([]string, error) {
	entries, err := os.ReadDir(resultsFolder(home))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for stored results: %w", err)
	}
	var ids []string
	for _, e := range entries {
		id, is := strings.CutSuffix(e.Name(), suffix)
		if is && !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids) // ReadDir sorts
	return ids, nil
}

// A Summary is what a list of results shows of one.
type Summary struct {
	ID        string
	Path      string
	Err       error // why it cannot be read; the fields below are then unset
	Started   time.Time
	URL       string
	Model     string
	Completed float64 // requests a second
	P99       float64 // µs of latency; 0 if nothing completed
	Verdict   string
}

// List is all results stored under home, newest first. A file that cannot be read is listed with
// the reason.
func List(home string) ([]Summary, error) {
	ids, err := storedIDs(home)
	if err != nil {
		return nil, err
	}
	all := make([]Summary, len(ids))
	for i, id := range ids {
		s := Summary{ID: id, Path: filepath.Join(resultsFolder(home), id+suffix)}
		if r, err := Open(home, s.Path); err != nil {
			s.Err = err
		} else {
			s.Started, s.URL, s.Model = r.Window.Started, r.Plan.Target.URL, r.Model
			s.Completed, s.Verdict = r.Rate.Completed, r.Generator.Verdict
			if r.Latency != nil {
				s.P99 = r.Latency.P99
			}
		}
		all[i] = s
	}
	return all, nil
}
