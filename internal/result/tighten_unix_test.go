//go:build unix

package result

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// homeOf makes a home of an earlier version, with everything open, and these entries besides.
func homeOf(t *testing.T, more ...string) string {
	home := filepath.Join(t.TempDir(), "home")
	for _, name := range append(more, "results/20261123-101112-abcd.json", "results/notes.txt",
		"data/sha256/x.jsonl", "experiments/e/experiment.json", "fleet/hub.json", "index.sqlite") {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		return os.Chmod(path, map[bool]fs.FileMode{true: 0o755, false: 0o644}[e.IsDir()])
	})
	return home
}

func mode(t *testing.T, path ...string) fs.FileMode {
	info, err := os.Stat(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// A home that an earlier version left open is closed, but for what its experiments are.
func TestTightenAHome(t *testing.T) {
	home := homeOf(t)
	Tighten(home)
	for name, want := range map[string]fs.FileMode{"": 0o700, "results": 0o700, "fleet": 0o700,
		"data/sha256": 0o700, "index.sqlite": 0o600, "results/20261123-101112-abcd.json": 0o600,
		"results/notes.txt": 0o600, "fleet/hub.json": 0o600, "data/sha256/x.jsonl": 0o600,
		"experiments": 0o700, "experiments/e": 0o755, "experiments/e/experiment.json": 0o644} {
		if got := mode(t, home, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A folder that is somebody's for other things too is theirs: only what is surely dyno's is closed.
func TestTightenNothingElse(t *testing.T) {
	home := homeOf(t, "mine.txt", "photos/a.jpg")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(home, "redact.key")); err != nil {
		t.Fatal(err)
	}
	Tighten(home)
	for name, want := range map[string]fs.FileMode{"": 0o755, "mine.txt": 0o644, "photos": 0o755,
		"photos/a.jpg": 0o644, "results": 0o755, "results/notes.txt": 0o644, "fleet": 0o755,
		"index.sqlite": 0o600, "results/20261123-101112-abcd.json": 0o600, "redact.key": 0o644} {
		if got := mode(t, home, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	empty := t.TempDir()
	if err := os.Chmod(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	Tighten(empty)
	Tighten(filepath.Join(empty, "nosuch"))
	if got := mode(t, empty); got != 0o755 {
		t.Errorf("a folder without anything of dyno's: %v", got)
	}
}
