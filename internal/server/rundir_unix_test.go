//go:build unix

package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No run directory is made where another user can put something else in its place, be it in the
// temporary directory itself or on the way to it; and the error says what to do.
func TestSocketDirOfOthers(t *testing.T) {
	above := filepath.Join(t.TempDir(), "above")
	dir := filepath.Join(above, "tmp")
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		above, dir fs.FileMode
		refused    string // the directory that is at fault
	}{
		{0o755, 0o700, ""},
		{0o755, 0o755, ""},
		{0o755, 0o777 | fs.ModeSticky, ""},
		{0o777 | fs.ModeSticky, 0o755, ""},
		{0o755, 0o777, dir},
		{0o755, 0o770, dir},
		{0o755, 0o703, dir},
		{0o777, 0o700, above},
		{0o777, 0o777 | fs.ModeSticky, above},
	} {
		if err := errors.Join(os.Chmod(above, test.above), os.Chmod(dir, test.dir)); err != nil {
			t.Fatal(err)
		}
		for _, temp := range []string{dir, link} {
			t.Setenv("TMPDIR", temp)
			made, err := SocketDir()
			os.RemoveAll(made)
			switch {
			case test.refused == "" && err != nil:
				t.Errorf("%v in %v: %v", test.dir, test.above, err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), "chmod +t "+test.refused+",") ||
				!strings.Contains(err.Error(), "TMPDIR")):
				t.Errorf("%v in %v: %v, want a refusal of %s", test.dir, test.above, err, test.refused)
			}
		}
	}
}

// Root makes none in the directory of a user, who could rename it whatever its mode is.
func TestSocketDirOfUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 1, 1); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	made, err := SocketDir()
	if os.RemoveAll(made); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Error(err)
	}
}
