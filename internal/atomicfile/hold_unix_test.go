//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Who has opened a temporary file that another has made into the other one since, or removed,
// holds nothing.
func TestHasName(t *testing.T) {
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "x"), filepath.Join(dir, ".x.tmp")
	f, err := holdTemporary(temp)
	if err != nil || !hasName(f, temp) {
		t.Fatalf("held is %v, %v", f, err)
	}
	if _, err := holdTemporary(temp); !errors.Is(err, fs.ErrExist) {
		t.Errorf("held twice: %v", err)
	}
	if err := os.Rename(temp, path); err != nil {
		t.Fatal(err)
	}
	if hasName(f, temp) {
		t.Error("what was renamed has its name still")
	}
	again, err := holdTemporary(temp)
	if err != nil || hasName(f, temp) || !hasName(again, temp) {
		t.Errorf("of another file of that name: %v", err)
	}
	if err := errors.Join(f.Close(), again.Close()); err != nil {
		t.Error(err)
	}
}
