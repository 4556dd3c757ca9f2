package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// batch is how many files are read in one transaction, for which other processes wait.
	batch = 100
	// unsettled is how new a file is that can still change without a new modification time: the
	// coarsest clock of a file system counts 2 s.
	unsettled = 2 * time.Second
)

// A kind is a kind of file: where it lies, and how it is read into the index.
type kind struct {
	folder, suffix string
	rows           func(file, id string, content []byte) ([]statement, error)
	forget         []string // statements that remove it; their argument is the ID
}

// A statement inserts something into the index.
type statement struct {
	sql  string
	args []any
}

// kinds are those of all files. An ID is the file's name without its suffix, or that of
// the folder below folder, if the suffix is a file in it.
var kinds = []kind{
	{"results", ".json", resultRows, []string{"DELETE FROM examined WHERE plan = (SELECT plan FROM " +
		"results WHERE id = ?)", "DELETE FROM asked WHERE plan = (SELECT plan FROM " +
		"results WHERE id = ?1) AND NOT EXISTS (SELECT 1 FROM results WHERE plan = asked.plan AND " +
		"id <> ?1)", "DELETE FROM results WHERE id = ?", "DELETE FROM sizes WHERE result = ?",
		"DELETE FROM data WHERE result = ?", "DELETE FROM measures WHERE result = ?",
		"DELETE FROM fleets WHERE result = ?",
		"DELETE FROM partials WHERE result = ?"}},
	{"results", ".note", noteRows, []string{"DELETE FROM notes WHERE result = ?",
		"DELETE FROM tags WHERE result = ?"}},
	{"experiments", "/experiment.json", experimentRows, []string{
		"DELETE FROM experiments WHERE id = ?",
		"DELETE FROM folders WHERE experiment = ?"}},
	{"changes", ".json", changeRows, []string{"DELETE FROM changes WHERE id = ?"}},
}

// A state is by what a changed file is recognised.
type state struct{ modified, size int64 }

// Refresh updates the index from the files.
func (s *Store) Refresh() error {
	known, err := s.knownStates()
	if err != nil {
		return err
	}
	var changed []string
	for _, k := range kinds {
		paths, err := k.changedPaths(s.home, known)
		if err != nil {
			return fmt.Errorf("looking for what is stored: %w", err)
		}
		changed = append(changed, paths...)
	}
	for path := range known { // those that were not found again
		changed = append(changed, path)
	}
	for len(changed) > 0 {
		n := min(len(changed), batch)
		if err := s.updateIndex(changed[:n]); err != nil {
			return err
		}
		changed = changed[n:]
	}
	return nil
}

// knownStates are the states of the files that were read.
func (s *Store) knownStates() (map[string]state, error) {
	rows, err := s.db.Query("SELECT path, modified, size FROM files")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]state{}
	for rows.Next() {
		var path string
		var at state
		if err := rows.Scan(&path, &at.modified, &at.size); err != nil {
			return nil, err
		}
		all[path] = at
	}
	return all, rows.Err()
}

// changedPaths are the files of a kind whose state is not the known one. It removes existing files
// from known.
func (k kind) changedPaths(home string, known map[string]state) (paths []string, err error) {
	entries, err := os.ReadDir(filepath.Join(home, k.folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		path, is := k.indexPath(e)
		if !is {
			continue
		}
		now, err := k.stateOf(filepath.Join(home, path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		was, had := known[path]
		delete(known, path)
		if !had || was != now {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// courseOf is that of a file of the kind; of an experiment's record also that of its folder, into
// which reports come later.
func (k kind) stateOf(file string) (state, error) {
	info, err := os.Stat(file)
	if err != nil {
		return state{}, err
	}
	now := state{info.ModTime().UnixNano(), info.Size()}
	if strings.HasPrefix(k.suffix, "/") {
		if folder, err := os.Stat(filepath.Dir(file)); err == nil {
			now.modified = max(now.modified, folder.ModTime().UnixNano())
		}
	}
	return now, nil
}

// indexPath is that of the kind's file that an entry of its folder is, or has.
func (k kind) indexPath(e fs.DirEntry) (path string, is bool) {
	if strings.HasPrefix(e.Name(), ".") {
		return "", false // being written
	}
	if strings.HasPrefix(k.suffix, "/") {
		return k.folder + "/" + e.Name() + k.suffix, e.IsDir()
	}
	return k.folder + "/" + e.Name(), strings.HasSuffix(e.Name(), k.suffix)
}

// idOf is what the file of that path is of, if it is of the kind.
func (k kind) idOf(path string) (id string, is bool) {
	id, below := strings.CutPrefix(path, k.folder+"/")
	id, is = strings.CutSuffix(id, k.suffix)
	return id, below && is
}

// updateIndex reads files into the index, as they are now: whoever has the transaction is
// alone, so that what another process has read since is not replaced by older.
func (s *Store) updateIndex(paths []string) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	all := transaction{tx, map[string]*sql.Stmt{}}
	for _, path := range paths {
		if err := s.indexFile(all, path); err != nil {
			return fmt.Errorf("indexing %s: %w", path, err)
		}
	}
	return tx.Commit()
}

// A transaction prepares each statement once: files of a kind have the same statements, and SQLite
// takes as long to prepare one as to execute it. Its end closes them.
type transaction struct {
	*sql.Tx
	prepared map[string]*sql.Stmt // by their text
}

func (t transaction) execStatement(statement string, args ...any) error {
	ready := t.prepared[statement]
	if ready == nil {
		var err error
		if ready, err = t.Prepare(statement); err != nil {
			return err
		}
		t.prepared[statement] = ready
	}
	_, err := ready.Exec(args...)
	return err
}

// indexFile reads one file into the index. One that cannot be read, or makes no sense, is
// there with the reason.
func (s *Store) indexFile(tx transaction, path string) error {
	k, id := kindOf(path)
	for _, statement := range k.forget {
		if err := tx.execStatement(statement, id); err != nil {
			return err
		}
	}
	if err := tx.execStatement("DELETE FROM files WHERE path = ?", path); err != nil {
		return err
	}
	full := filepath.Join(s.home, path)
	at, err := k.stateOf(full) // before it is read: what comes later is then seen
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if time.Since(time.Unix(0, at.modified)).Abs() < unsettled {
		at.modified = 0
	}
	problem := ""
	all, err := k.readRows(full, id)
	if err != nil {
		problem = err.Error()
	}
	for _, add := range append(all, statement{"INSERT INTO files VALUES (?, ?, ?, ?)",
		[]any{path, at.modified, at.size, problem}}) {
		if err := tx.execStatement(add.sql, add.args...); err != nil {
			return err
		}
	}
	return nil
}

// readRows is what a file puts into the index.
func (k kind) readRows(file, id string) ([]statement, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return k.rows(file, id, content)
}

// kindOf is the kind of the file of a path, and its ID.
func kindOf(path string) (kind, string) {
	for _, k := range kinds {
		if id, is := k.idOf(path); is {
			return k, id
		}
	}
	panic("store: no kind of file is " + path)
}
