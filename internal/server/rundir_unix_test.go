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

// shortDir is a directory whose path leaves room for names of sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// No run directory is made where another user can put something else in its place, be it in the
// temporary directory itself or on the way to it; and the error says what to do.
func TestSocketDirOfOthers(t *testing.T) {
	above := filepath.Join(shortDir(t), "a")
	dir := filepath.Join(above, "tmp")
	link := filepath.Join(shortDir(t), "l")
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
			made, err := socketDirIn(temp)
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
	dir := shortDir(t)
	if err := os.Chown(dir, 1, 1); err != nil {
		t.Fatal(err)
	}
	made, err := socketDirIn(dir)
	if os.RemoveAll(made); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Error(err)
	}
}

// Where one directory will not do, another does; and of none that does the first says why.
func TestSocketDirElsewhere(t *testing.T) {
	open, good := shortDir(t), shortDir(t)
	if err := errors.Join(os.Chmod(open, 0o777), os.Chmod(good, 0o700)); err != nil {
		t.Fatal(err)
	}
	made, err := socketDirIn(open, "", filepath.Join(open, "none"), good)
	if err != nil || filepath.Dir(made) != good {
		t.Errorf("%s, %v", made, err)
	}
	_, err = socketDirIn(open, filepath.Join(good, strings.Repeat("x", 90)))
	if err == nil || !strings.Contains(err.Error(), "rename what is in "+open) {
		t.Error(err)
	}
	t.Setenv("TMPDIR", open)
	made, err = SocketDir()
	if os.RemoveAll(made); err != nil || filepath.Dir(made) == open {
		t.Errorf("%s, %v", made, err)
	}
}

// A filesystem that does not store modes shows the folder with others than it was made with. There
// anybody might look into it, and the message says why it will not do.
func TestCheckModes(t *testing.T) {
	dir := shortDir(t)
	for mode, good := range map[fs.FileMode]bool{0o700: true, 0o755: false, 0o777: false, 0o750: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		err := checkModes(dir)
		if good != (err == nil) || !good && (!strings.Contains(err.Error(), (fs.ModeDir|mode).String()) ||
			!strings.Contains(err.Error(), "its filesystem stores no owners or modes; set TMPDIR")) {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// In a container the overflow user stands for those that it does not have.
func TestMapsUser(t *testing.T) {
	for _, c := range []struct {
		lines string
		user  int
		want  bool
	}{
		{"0 0 4294967295\n", 65534, true},
		{"0 0 4294967295\n", 1000, true},
		{"0 1000 1\n1 100000 65536\n", 65534, false},
		{"0 1000 1\n1 100000 65536\n", 1000, true},
		{"0 1000 1\n", 1000, false},
	} {
		if got := mapsUser(c.lines, "65534\n", c.user); got != c.want {
			t.Errorf("%q has user %d: %t", c.lines, c.user, got)
		}
	}
}
