package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// runDir is a new run directory, open.
func runDir(t *testing.T) (string, *RunDir) {
	t.Helper()
	dir, err := SocketDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d, err := OpenRunDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return dir, d
}

// modes checks the modes of files below dir.
func modes(t *testing.T, dir string, want map[string]fs.FileMode) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	for name, mode := range want {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v, want %v", name, info, err, mode)
		}
	}
}

// What another user could plant is neither followed nor written through.
func TestRunDirFollowsNothing(t *testing.T) {
	dir, d := runDir(t)
	victim := filepath.Join(t.TempDir(), "victim")
	plant := errors.Join(os.Mkdir(victim, 0o755), os.WriteFile(filepath.Join(victim, "file"), []byte("mine"), 0o644),
		os.Symlink(victim, filepath.Join(dir, "conf")), os.Mkdir(filepath.Join(dir, "www"), 0o755),
		os.Symlink(filepath.Join(victim, "file"), filepath.Join(dir, "www", "page")),
		os.Symlink(filepath.Join(victim, "file"), filepath.Join(dir, "app.log")),
		os.Symlink("no such file", filepath.Join(dir, "dangling")),
		os.Link(filepath.Join(victim, "file"), filepath.Join(dir, "hard")))
	if plant != nil {
		t.Fatal(plant)
	}
	if err := d.Write("conf/new", "x"); err == nil {
		t.Error("wrote through the link of a folder")
	}
	from := t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "new"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := d.Copy("conf", from); err == nil {
		t.Error("copied through the link of a folder")
	}
	for _, name := range []string{"www/page", "hard", "dangling"} {
		if err := d.Write(name, "x"); err != nil {
			t.Error(err)
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	l, err := openLog(filepath.Join(dir, "app.log"), "")
	if err != nil {
		t.Fatal(err)
	}
	l.Write([]byte("x"))
	l.file.Close()
	entries, err := os.ReadDir(victim)
	text, err2 := os.ReadFile(filepath.Join(victim, "file"))
	if err = errors.Join(err, err2); err != nil || len(entries) != 1 || string(text) != "mine" {
		t.Errorf("%v, %q, %v", entries, text, err)
	}
	if err := d.Write("../out", "x"); err == nil {
		t.Error("wrote outside")
	}
}

// Nobody else gets in unless a process of another user has to.
func TestRunDirModes(t *testing.T) {
	from := t.TempDir()
	plant := errors.Join(os.Mkdir(filepath.Join(from, "sub"), 0o777),
		os.WriteFile(filepath.Join(from, "run.sh"), []byte("#!/bin/sh\n"), 0o755),
		os.Symlink("run.sh", filepath.Join(from, "sub", "link")))
	if plant != nil {
		t.Fatal(plant)
	}
	for _, test := range []struct {
		readable bool
		want     map[string]fs.FileMode
	}{
		{false, map[string]fs.FileMode{"a/b": 0o600, "a": 0o700, "www/run.sh": 0o700, "www/sub": 0o700, ".": 0o700}},
		{true, map[string]fs.FileMode{"a/b": 0o644, "a": 0o755, "www/run.sh": 0o755, "www/sub": 0o755, ".": 0o711}},
	} {
		dir, d := runDir(t)
		d.Readable = test.readable
		if err := errors.Join(d.Write("a/b", "text"), d.Copy("www", from)); err != nil {
			t.Fatal(err)
		}
		if test.readable {
			if err := d.Share(); err != nil {
				t.Fatal(err)
			}
		}
		modes(t, dir, test.want)
		if to, err := os.Readlink(filepath.Join(dir, "www", "sub", "link")); to != "run.sh" {
			t.Errorf("a link to %q, %v", to, err)
		}
	}
}

// Files that every user may read are so whatever rights their source has.
func TestRunDirCopiesReadable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are not a file's mode there")
	}
	dir, d := runDir(t)
	from := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(from, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Readable = true
	if err := d.Copy("file", from); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "file")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// What is copied may be named by a link, and one file; what is neither file nor folder is refused.
func TestRunDirCopies(t *testing.T) {
	dir, d := runDir(t)
	from := t.TempDir()
	plant := errors.Join(os.Mkdir(filepath.Join(from, "real"), 0o755),
		os.WriteFile(filepath.Join(from, "real", "file"), []byte("text"), 0o644),
		os.Symlink("real", filepath.Join(from, "link")))
	err := errors.Join(plant, d.Copy("one", filepath.Join(from, "link")),
		d.Copy("two", filepath.Join(from, "real", "file")), d.Write("one/file", "another"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"one/file": "another", "two": "text"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if err := d.Copy("null", os.DevNull); err == nil && runtime.GOOS != "windows" {
		t.Error("a device was copied")
	}
	if err := d.Copy("none", filepath.Join(from, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A folder that somebody else can have put there is not used.
func TestRunDirOfAnother(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are not a file's mode there")
	}
	dir := t.TempDir()
	for _, mode := range []fs.FileMode{0o777 | fs.ModeSticky, 0o711, 0o500} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if d, err := OpenRunDir(dir); err == nil {
			d.Close()
			t.Errorf("%v was used", mode)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if d, err := OpenRunDir(dir); err == nil {
		d.Close()
		t.Error("another's folder was used")
	}
}
