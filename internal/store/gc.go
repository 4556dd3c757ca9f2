package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"dyno/internal/atomicfile"
	"dyno/internal/dynohome"
	"dyno/internal/lazyregexp"
)

// abandoned is how old a temporary file must be to count as a leftover. A locked one is never a
// leftover.
const abandoned = time.Hour

// Collect removes what nothing refers to: data of no result, notes and profiles whose result is
// gone, and temporary files of killed processes. It returns what it removed or, if dry is set,
// would remove.
func (s *Store) Collect(dry bool) (all []Removed, err error) {
	return all, dynohome.WithoutSavers(s.home, func() (err error) {
		if err = s.Refresh(); err != nil {
			return err
		}
		for _, find := range []func() ([]Removed, error){s.findUnreferred, s.findOrphans,
			s.findLeftovers} {
			found, err := find()
			for _, r := range found {
				if !dry {
					if err := os.RemoveAll(r.Path); err != nil {
						return fmt.Errorf("removing what is not needed: %w", err)
					}
				}
				all = append(all, r)
			}
			if err != nil {
				return fmt.Errorf("listing what is not needed: %w", err)
			}
		}
		return nil
	})
}

var sha256Text = lazyregexp.New(`[0-9a-f]{64}`)

// findUnreferred are the files of data that no result refers to. A reference in a file that cannot
// be read as a result counts too: it may be from a newer dyno.
func (s *Store) findUnreferred() (all []Removed, err error) {
	refers := map[string]bool{}
	err = s.eachRow("SELECT DISTINCT sha256 FROM data", nil, func(rows *sql.Rows) error {
		var sum string
		err := rows.Scan(&sum)
		refers[sum] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	unreadable, err := s.unreadableFiles()
	if err != nil {
		return nil, err
	}
	for _, u := range unreadable {
		content, err := os.ReadFile(u.Path)
		if err != nil {
			return nil, err
		}
		for _, sum := range sha256Text().FindAll(content, -1) {
			refers[string(sum)] = true
		}
	}
	entries, err := entriesOf(dynohome.DataFolder(s.home))
	for _, e := range entries {
		sum, _, _ := strings.Cut(e.Name(), ".")
		if e.Type().IsRegular() && len(sum) == 64 && !refers[sum] {
			all = append(all, s.describeEntry("data", dynohome.DataFolder(s.home), e))
		}
	}
	return all, err
}

// findOrphans are notes and profiles without a result, unless one is being stored.
func (s *Store) findOrphans() (all []Removed, err error) {
	dir := s.pathOf("results")
	entries, err := entriesOf(dir)
	for _, e := range entries {
		id, _, _ := strings.Cut(e.Name(), ".")
		what := "profile"
		if strings.HasSuffix(e.Name(), ".note") {
			what = "note"
		} else if !strings.HasSuffix(e.Name(), ".pb.gz") {
			continue
		}
		temp := filepath.Join(dir, "."+id+".json.tmp")
		kept := isThere(filepath.Join(dir, id+".json")) || isThere(temp) && !atomicfile.IsAbandoned(temp)
		if resultID().MatchString(id) && !kept {
			all = append(all, s.describeEntry(what, dir, e))
		}
	}
	return all, err
}

// unfinished are patterns of names that files and folders have only while they are written or
// removed, by their place in the store. All other names are not dyno's.
var unfinished = map[string]func() *regexp.Regexp{
	"": lazyregexp.New(`^\.import-[0-9]+$`),
	"results": lazyregexp.New(`^\.` + idText +
		`(\.json\.tmp|\.[a-z]+\.pb\.gz\.(tmp|[0-9]+)|\.note\.[0-9]+)$`),
	"changes":     lazyregexp.New(`^\.` + idText + `-[a-z0-9._]+\.json\.tmp$`),
	"experiments": lazyregexp.New(`^\.(import-[0-9]+|removing-.+)$`),
	"data/sha256": lazyregexp.New(`^\.[0-9a-f]{64}\.jsonl\.tmp$`),
}

// findLeftovers are the temporary files of processes that have ended.
func (s *Store) findLeftovers() (all []Removed, err error) {
	for _, folder := range slices.Sorted(maps.Keys(unfinished)) {
		dir := s.pathOf(filepath.FromSlash(folder))
		entries, err := entriesOf(dir)
		if err != nil {
			return all, err
		}
		for _, e := range entries {
			if unfinished[folder]().MatchString(e.Name()) && isAbandoned(filepath.Join(dir, e.Name()), e) {
				all = append(all, s.describeEntry("leftover", dir, e))
			}
		}
	}
	return all, nil
}

// isAbandoned reports whether no process works any more on a file or folder with a temporary name.
// If it cannot be read, the answer is no.
func isAbandoned(path string, e fs.DirEntry) bool {
	switch {
	case strings.HasPrefix(e.Name(), removing):
		return true
	case strings.HasSuffix(e.Name(), ".tmp"):
		return e.Type().IsRegular() && atomicfile.IsAbandoned(path)
	}
	at, err := lastWritten(path)
	if err != nil || time.Since(at) <= abandoned {
		return false
	}
	lock := filepath.Join(path, ".lock")
	return !isThere(lock) || atomicfile.IsAbandoned(lock)
}

// lastWritten is when a file, or anything below a folder, was last written to.
func lastWritten(path string) (at time.Time, err error) {
	return at, filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.ModTime().After(at) {
			at = info.ModTime()
		}
		return err
	})
}

// describeEntry describes an entry of a folder, with all that is in it.
func (s *Store) describeEntry(what, dir string, e fs.DirEntry) Removed {
	path := filepath.Join(dir, e.Name())
	size, _ := folderSize(path) // what cannot be read is not counted
	return Removed{path, what, size}
}

// entriesOf are the entries of a folder; none if it does not exist.
func entriesOf(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return entries, err
}
