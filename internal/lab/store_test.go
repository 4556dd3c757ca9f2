package lab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/result"
)

// A trial is read whole, and from its folder only.
func TestOpenTrial(t *testing.T) {
	s, err := CreateFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	slot := Slot{Round: 1, Arm: "a b", Level: "c1"}
	want := &Trial{Format: TrialFormat, ID: slot.FileID(1), Attempt: 1, Slot: slot, Grade: GradeA,
		Result: &result.Result{Rate: result.Rate{Completed: 7}}}
	if err := s.StoreTrial(want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTrial(s.Dir, want.ID)
	if err != nil || got.Arm != "a b" || got.Result.Rate.Completed != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, id := range []string{"", "..", "../experiment", "/etc/passwd", "x/y", "r009-none"} {
		if _, err := ReadTrial(s.Dir, id); err == nil || !strings.Contains(err.Error(), id) {
			t.Errorf("trial %q: %v", id, err)
		}
	}
}

// A folder that is cleared is as it was found: empty, or not there.
func TestClearedFolderIsAsItWasFound(t *testing.T) {
	above := t.TempDir()
	for _, dir := range []string{above, filepath.Join(above, "new"), filepath.Join(above, "a", "b", "c")} {
		s, err := CreateFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Lock(), s.Clear(), s.Unlock()); err != nil {
			t.Error(err)
		}
		if all, err := os.ReadDir(above); err != nil || len(all) > 0 {
			t.Errorf("%s: %v is left, %v", dir, all, err)
		}
	}
	inTheWay := filepath.Join(above, "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateFolder(filepath.Join(inTheWay, "x", "y")); err == nil {
		t.Error("a folder was made in a file")
	}
	if err := CheckNew(above); err == nil {
		t.Error("a folder with a file is taken for new")
	}
}

// A folder without a trial can be given again, if it has nothing but what an experiment made.
func TestClearUnbegun(t *testing.T) {
	if !canLock {
		t.Skip("a folder cannot be locked on this system")
	}
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
