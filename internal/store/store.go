// Package store is what dyno has kept: results, notes on them, experiments, and the
// change points that were found in their history. All of it is in files, one of each,
// which are written whole or not at all; what a file says is the truth.
//
//	$DYNO_HOME/results/ID.json                 a result; see package result
//	$DYNO_HOME/results/ID.note                 what somebody said of it
//	$DYNO_HOME/experiments/NAME/               an experiment; see package lab
//	$DYNO_HOME/changes/ID.json                 a change point, as it was published
//	$DYNO_HOME/index.sqlite                    computed from the others
//
// The index is there because a list of ten thousand results must not read ten
// thousand files. Nothing is in it that is not in a file, and nobody writes to it what
// was not written to a file before. Opening it reads the files that are new or have
// changed since; so whoever stores a result needs no index, and if it is damaged, of
// another version of dyno, or removed by somebody, it is made again. Where it cannot be
// written it is kept in memory, for as long as the process lives.
//
// SQLite, and no format of our own, because several processes read and write it at
// once, some are killed meanwhile, and that is what it is good at.
//
//	the index       store.go opens it, schema.sql has its tables and columns; schema.go makes it
//	                anew if its version is another
//	reading files   refresh.go (which are new or have changed), rows.go (fills the columns)
//	lists           history.go (of results and experiments), series.go (runs of one configuration,
//	                and their names), note.go (what somebody said of a result); changed.go (whether
//	                a list is out of date)
//	change points   changepoint.go (found and published), examined.go (where there are no new ones),
//	                segment.go (the runs between two), fingerprint.go (which runs are one series:
//	                URL, settings, machine), unproven.go (runs too few for one)
//	in and out      export.go, import.go (results and notes), importlab.go (experiments), unpack.go
//	                (archives, within limits), check.go (names in them)
//	removal         remove.go (dyno history rm), gc.go (dyno history gc: what nothing refers to),
//	                requestdata.go (requests that results share)
//	room            room_unix.go (what the file system still takes), room_other.go
package store

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite" // the driver, and what it says went wrong
)

const (
	indexFile = "index.sqlite"
	// writerTimeout is how long one process waits for another that writes.
	writerTimeout = 10 * time.Second
	// writerPause is for how long it leaves the index alone when SQLite does not wait.
	writerPause = 10 * time.Millisecond
)

// A Store is an open index. It may be used by several goroutines.
type Store struct {
	// Problem is why the index is kept in memory, where it is: all works, slower.
	Problem error

	home string
	db   *sql.DB
}

// Open opens the index of the store in home, and brings it up to date with the
// files. Nothing is written if there is no store.
func Open(home string) (*Store, error) {
	if _, err := os.Stat(home); err != nil {
		return openInMemory(home, nil)
	}
	path := filepath.Join(home, indexFile)
	s, err := openAmongOthers(home, path)
	if err == nil {
		return s, nil
	}
	if !isBusy(err) {
		if err = removeIndex(path); err == nil {
			if s, err = openIndex(home, path); err == nil {
				return s, nil
			}
		}
	}
	return openInMemory(home, fmt.Errorf("the index %s cannot be used: %w", path, err))
}

// openAmongOthers opens the index once other processes let it. SQLite waits for them itself,
// except where a connection that has a lock wants a larger one, as for the first change to WAL.
// Two of these would wait for each other for ever, so it refuses at once.
func openAmongOthers(home, path string) (*Store, error) {
	for begun := time.Now(); ; time.Sleep(writerPause) {
		s, err := openIndex(home, path)
		if err == nil || !isBusy(err) || time.Since(begun) > writerTimeout {
			return s, err
		}
	}
}

func openInMemory(home string, problem error) (*Store, error) {
	s, err := openIndex(home, "")
	if err != nil {
		return nil, fmt.Errorf("reading what is stored in %s: %w", home, errors.Join(err, problem))
	}
	s.Problem = problem
	return s, nil
}

// openIndex opens the index in a file, or without one in memory.
func openIndex(home, path string) (*Store, error) {
	name := "file::memory:"
	if path != "" {
		// SQLite would make it readable to all; URLs may hold secrets.
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		name = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	}
	// Losing the last transactions with the power is no harm: the files are there. What is deleted
	// is overwritten, because earlier versions had secrets in it.
	name += fmt.Sprintf("?_txlock=immediate&_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)"+
		"&_pragma=synchronous(NORMAL)&_pragma=secure_delete(1)", writerTimeout.Milliseconds())
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // in memory, each connection would have an index of its own
	s := &Store{home: home, db: db}
	if err := s.prepareSchema(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// prepareSchema makes the index whole, of our schema, and up to date.
func (s *Store) prepareSchema() error {
	var check string
	if err := s.db.QueryRow("PRAGMA quick_check(1)").Scan(&check); err != nil {
		return err
	}
	if check != "ok" {
		return fmt.Errorf("it is damaged: %s", check)
	}
	if err := makeSchema(s.db); err != nil {
		return err
	}
	return s.Refresh()
}

// Close closes the index.
func (s *Store) Close() error { return s.db.Close() }

// isBusy reports whether err is that another process is writing, for longer than we
// wait.
func isBusy(err error) bool {
	const sqliteBusy, sqliteLocked, primary = 5, 6, 0xff
	e, is := errors.AsType[*sqlite.Error](err)
	return is && (e.Code()&primary == sqliteBusy || e.Code()&primary == sqliteLocked)
}

// removeIndex removes the index. What belongs to it goes first, so that there is never a
// new index beside the old one's log.
func removeIndex(path string) error {
	for _, end := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
