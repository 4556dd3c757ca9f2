package lab

import (
	"errors"
	"fmt"
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

// What is run again goes into the next folder beside that is free, and from the store into the
// store.
func TestFolderBeside(t *testing.T) {
	home := t.TempDir()
	t.Setenv("DYNO_HOME", home)
	dir := filepath.Join(t.TempDir(), "report")
	for n := 2; n < 4; n++ {
		want := fmt.Sprintf("%s-%d", dir, n)
		if got := FolderBeside(dir); got != want {
			t.Errorf("%s, not %s", got, want)
		}
		if err := os.Mkdir(want, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := FolderBeside(filepath.Join(home, "experiments", "x")); got != "" {
		t.Errorf("of the store's: %s", got)
	}
}
