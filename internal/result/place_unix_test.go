//go:build unix

package result

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Who has opened a temporary file that another has made into the other one since, or removed,
// holds nothing.
func TestNamed(t *testing.T) {
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "x"), filepath.Join(dir, ".x.tmp")
	f, err := hold(temp)
	if err != nil || !named(f, temp) {
		t.Fatalf("held is %v, %v", f, err)
	}
	if _, err := hold(temp); !errors.Is(err, fs.ErrExist) {
		t.Errorf("held twice: %v", err)
	}
	if err := os.Rename(temp, path); err != nil {
		t.Fatal(err)
	}
	if named(f, temp) {
		t.Error("what was renamed has its name still")
	}
	again, err := hold(temp)
	if err != nil || named(f, temp) || !named(again, temp) {
		t.Errorf("of another file of that name: %v", err)
	}
	if err := errors.Join(f.Close(), again.Close()); err != nil {
		t.Error(err)
	}
}

// Whoever collects has the lock of the data, also in a store that has no data so far: a result
// with the first of it could be stored meanwhile. A store that is not there is not made.
func TestWithoutSaversHoldsTheLock(t *testing.T) {
	home, called := t.TempDir(), 0
	err := WithoutSavers(home, func() error {
		called++
		if Abandoned(filepath.Join(DataFolder(home), ".lock")) {
			t.Error("nobody holds the lock")
		}
		_, err := os.Stat(filepath.Join(DataFolder(home), ".lock"))
		return err
	})
	if err != nil || called != 1 {
		t.Errorf("called %d times, %v", called, err)
	}
	none := filepath.Join(home, "none")
	if err := WithoutSavers(none, func() error { called++; return nil }); err != nil || called != 2 {
		t.Errorf("without a store: called %d times, %v", called, err)
	}
	if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the store was made: %v", err)
	}
}
