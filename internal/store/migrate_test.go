package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// schema is what a database consists of.
func schema(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	rows, err := db.Query("SELECT sql FROM sqlite_schema WHERE sql <> '' ORDER BY sql")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// Each migration, taken back, leaves what was there before it, from wherever one comes.
func TestMigrationsUpAndDown(t *testing.T) {
	all, err := knownMigrations()
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(t.TempDir(), "x.sqlite")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var at [][]string
	for n := range len(all) + 1 {
		if err := migrateTo(db, all[:n]); err != nil {
			t.Fatalf("up to %d: %v", n, err)
		}
		at = append(at, schema(t, db))
		again := func() bool { return strings.Contains(all[n-1].up, "DELETE FROM files") } // all is read again
		if n > 0 && slices.Equal(at[n], at[n-1]) && !again() {
			t.Errorf("migration %d does nothing", n)
		}
	}
	for from := range len(all) + 1 {
		for to := range len(all) + 1 {
			for _, n := range []int{from, to} {
				if err := migrateTo(db, all[:n]); err != nil {
					t.Fatalf("%d to %d: %v", from, to, err)
				}
				if got := schema(t, db); !slices.Equal(got, at[n]) {
					t.Errorf("%d to %d: %s\nwant\n%s", from, to, strings.Join(got, "\n"), strings.Join(at[n], "\n"))
				}
			}
		}
	}
}

// A script that fails leaves the schema as it was.
func TestAMigrationIsWholeOrNot(t *testing.T) {
	s := opened(t, t.TempDir())
	before := schema(t, s.db)
	all, err := knownMigrations()
	if err != nil {
		t.Fatal(err)
	}
	bad := append(all, migration{len(all) + 1, "CREATE TABLE fine (x); CREATE TABLE files (x)", ""})
	if err := migrateTo(s.db, bad); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("migration %d", len(all)+1)) {
		t.Errorf("%v", err)
	}
	if after := schema(t, s.db); !slices.Equal(after, before) {
		t.Errorf("%q\nwas\n%q", after, before)
	}
}

// The index of each older version, and of a newer one, becomes that of this one, with all
// that the files say.
func TestIndexesOfOtherVersions(t *testing.T) {
	all, err := knownMigrations()
	if err != nil {
		t.Fatal(err)
	}
	newer := append(slices.Clone(all), migration{len(all) + 1,
		"CREATE TABLE more (x); ALTER TABLE results ADD COLUMN extra TEXT",
		"DROP TABLE more; ALTER TABLE results DROP COLUMN extra"})
	for n := range newer {
		home := t.TempDir()
		id := save(t, home, measured(0, 1000))[0]
		act(t, home, 6, nil, func() string { return id }, true)
		act(t, home, 3, nil, func() string { return id }, true)
		act(t, home, 8, nil, func() string { return id }, true)
		s := opened(t, home)
		if err := migrateTo(s.db, newer[:n+1]); err != nil {
			t.Fatal(err)
		}
		if n < len(all) {
			if err := migrateTo(s.db, newer[:n]); err != nil { // it was never there
				t.Fatal(err)
			}
		}
		s.Close()
		agrees(t, opened(t, home))
	}
}
