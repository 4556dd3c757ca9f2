//go:build unix

package dynohome

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"dyno/internal/atomicfile"
)

// Whoever collects has the lock of the data, also in a store that has no data so far: a result
// with the first of it could be stored meanwhile. A store that is not there is not made.
func TestWithoutSaversHoldsTheLock(t *testing.T) {
	home, called := t.TempDir(), 0
	err := WithoutSavers(home, func() error {
		called++
		if atomicfile.IsAbandoned(filepath.Join(DataFolder(home), ".lock")) {
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
