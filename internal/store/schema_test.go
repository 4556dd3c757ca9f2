package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// An index of another version, older or newer, is made anew, with all that the files say: results,
// notes, experiments and published changes.
func TestIndexesOfOtherVersions(t *testing.T) {
	const otherVersion = "; PRAGMA user_version = "
	for name, script := range map[string]string{
		"before there were versions": "DROP TABLE files; DROP TABLE results; CREATE TABLE files (path); CREATE TABLE results (id); " +
			"CREATE TABLE migrations (version INTEGER PRIMARY KEY, down TEXT NOT NULL); " +
			"INSERT INTO migrations VALUES (1, 'DROP TABLE files')" + otherVersion + "0",
		"with more": `CREATE TABLE "more ""of"" it" (x); ALTER TABLE results ADD COLUMN extra TEXT` + otherVersion + "-7",
		"with less": "DROP TABLE measures" + otherVersion + "7",
		"which reads something else": "UPDATE results SET run_verdict = 'fine'; DELETE FROM changes; DELETE FROM notes" +
			otherVersion + fmt.Sprint(schemaVersion()-1),
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			id := save(t, home, measured(0, 1000))[0]
			for _, what := range []int{3, 6, 8} { // a note, an experiment, a change
				act(t, home, what, nil, func() string { return id }, true)
			}
			s := opened(t, home)
			want := dump(t, s)
			s.Close()
			index := filepath.Join(home, indexFile)
			if err := statements(index, script); err != nil {
				t.Fatal(err)
			}
			before, err := os.Stat(index)
			if err != nil {
				t.Fatal(err)
			}
			s = opened(t, home)
			if after, err := os.Stat(index); err != nil || !os.SameFile(before, after) {
				t.Errorf("the file was replaced, %v: another process may use it", err)
			}
			if got := dump(t, s); got != want || s.Problem != nil {
				t.Errorf("%s\nwant\n%s, %v", got, want, s.Problem)
			}
			agrees(t, s)
		})
	}
}

// An index of this version is kept: what was found out at some expense, too.
func TestAnIndexOfThisVersionIsKept(t *testing.T) {
	home := t.TempDir()
	save(t, home, measured(0, 1000))
	opened(t, home).Close()
	if err := statements(filepath.Join(home, indexFile), "INSERT INTO examined VALUES ('p', 'm', 'p99', 'state')"); err != nil {
		t.Fatal(err)
	}
	s := opened(t, home)
	var state string
	if err := s.db.QueryRow("SELECT state FROM examined WHERE plan = 'p'").Scan(&state); err != nil || state != "state" {
		t.Errorf("%q, %v", state, err)
	}
}
