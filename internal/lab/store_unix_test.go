//go:build unix

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A folder without a trial can be given again, if it has nothing but what an experiment made.
func TestClearUnbegun(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string // a file that is written, too
		cleared    bool
	}{
		"nothing measured": {"output/check-a@a.log", "x", true},
		"a build":          {"build/srv", "x", true},
		"a trial":          {"trials/r001-a@b.json", "x", false},
		"a user's file":    {"notes.txt", "x", false},
		"a user's output":  {"output/notes.txt", "x", false},
		"an edited file":   {"vs.yaml", "name: mine", false},
	} {
		dir := t.TempDir()
		s, err := CreateFolder(dir)
		for _, f := range [][2]string{{SourceFile, "name: vs"}, {"vs.yaml", "name: vs"},
			{test.file, test.text}} {
			if err == nil {
				err = os.MkdirAll(filepath.Dir(filepath.Join(dir, f[0])), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, f[0]), []byte(f[1]), 0o600)
			}
		}
		if err == nil {
			err = s.WriteJSON(RecordFile, &Record{Format: ExperimentFormat})
		}
		if err != nil {
			t.Fatal(err)
		}
		release, err := LockFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := ClearUnbegun(dir, "vs.yaml", "build"); CheckNew(dir) == nil || test.cleared && err == nil {
			t.Errorf("%s: a folder in use was cleared, or nothing said so: %v", name, err)
		}
		if err := errors.Join(release(), ClearUnbegun(dir, "vs.yaml", "build")); err != nil {
			t.Fatal(err)
		}
		if got := CheckNew(dir) == nil; got != test.cleared {
			t.Errorf("%s: it can be given again: %v", name, got)
		}
	}
	if err := ClearUnbegun(filepath.Join(t.TempDir(), "none"), "vs.yaml"); err != nil {
		t.Error(err)
	}
}
