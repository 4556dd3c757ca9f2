//go:build unix

package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dyno/internal/result"
)

// outputs are the two ways in which files are written: after a load, and at once.
func outputs(name, text string) map[string]func() error {
	return map[string]func() error{
		"json": func() error {
			o, err := openOutput(name, io.Discard)
			if err != nil {
				return err
			}
			return o.writeResult(&result.Result{ID: text})
		},
		"writeFile": func() error {
			return writeFile(name, func(w io.Writer) error {
				_, err := io.WriteString(w, text)
				return err
			})
		},
	}
}

// A file that is replaced is another one, so that whoever reads the old one reads it whole. It keeps
// its permissions, and nothing is left beside it.
func TestOutputReplaces(t *testing.T) {
	for how := range outputs("", "") {
		name := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(name, []byte("before"), 0o640); err != nil {
			t.Fatal(err)
		}
		old, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer old.Close()
		was, err := old.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if err := outputs(name, strings.Repeat("x", 100_000))[how](); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		info, err := os.Stat(name)
		left, _ := os.ReadDir(filepath.Dir(name))
		if err != nil || info.Size() < 100_000 || info.Mode().Perm() != 0o640 || len(left) != 1 {
			t.Errorf("%s: %v, %v, %v", how, info, err, left)
		}
		if b, err := io.ReadAll(old); string(b) != "before" || err != nil || os.SameFile(info, was) {
			t.Errorf("%s: it was written over; who had it open reads %.20q of %d bytes, %v", how, b, len(b), err)
		}
	}
}

// Links and pipes are written straight, and stay what they are.
func TestOutputStraight(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(file, []byte(strings.Repeat("before", 1000)), 0o600),
		os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for how, write := range outputs(link, "after") {
		err := write()
		b, _ := os.ReadFile(file)
		if info, _ := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 ||
			!strings.Contains(string(b), "after") || strings.Contains(string(b), "before") {
			t.Errorf("%s: %v, %v, %d bytes", how, err, info.Mode(), len(b))
		}
	}
	for how, write := range outputs(pipe, "after") {
		got := make(chan string)
		go func() {
			b, _ := os.ReadFile(pipe)
			got <- string(b)
		}()
		if err := write(); err != nil || !strings.Contains(<-got, "after") {
			t.Errorf("%s: %v", how, err)
		}
	}
}
