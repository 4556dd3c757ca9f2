//go:build unix

package dynohome

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// Folders that are dyno's own are closed beside what is not, and stay open with something foreign
// in them; the folders of experiments are their user's.
func TestTightenBesideOthers(t *testing.T) {
	digits := strings.Repeat("0a", 32)
	home := homeOf(t, "mine.txt", "changes/20261123-101112-abcd-p99.json", "changes/.gitignore", "serve/8080",
		"agents/web1.json", "photos/20261123-101112-abcd.jpg")
	for _, foreign := range []string{"results/notes.txt", "data/sha256/x.jsonl", "fleet/hub.json"} {
		if err := os.Remove(filepath.Join(home, foreign)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(home, "experiments", "e")); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"data/sha256/" + digits + ".jsonl": 0o644,
		"fleet/keys.json": 0o640, "fleet/plan.nk": 0o604, "experiments/e-20261123-101112-0abcd/x": 0o644} {
		path := filepath.Join(home, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, mode), os.Chmod(path, mode))
		if err != nil {
			t.Fatal(err)
		}
	}
	Tighten(home)
	for name, want := range map[string]fs.FileMode{"": 0o755, "mine.txt": 0o644, "results": 0o700,
		"results/20261123-101112-abcd.json": 0o600, "data": 0o700, "data/sha256": 0o700,
		"data/sha256/" + digits + ".jsonl": 0o600, "fleet": 0o700, "fleet/keys.json": 0o600,
		"fleet/plan.nk": 0o600, "serve": 0o700, "serve/8080": 0o600, "experiments": 0o700,
		"experiments/e-20261123-101112-0abcd": 0o755, "experiments/e-20261123-101112-0abcd/x": 0o644,
		"changes": 0o755, "changes/20261123-101112-abcd-p99.json": 0o644, "agents/web1.json": 0o644,
		"photos": 0o755, "photos/20261123-101112-abcd.jpg": 0o644} {
		if got := mode(t, home, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A folder called serve, of files whose names are numbers, is nothing of dyno's where nothing else is.
func TestTightenNoOthersServe(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "serve", "8080")
	if err := errors.Join(os.Chmod(home, 0o755), os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	Tighten(home)
	if mode(t, filepath.Dir(file)) != 0o755 || mode(t, file) != 0o644 {
		t.Errorf("%v, and in it %v", mode(t, filepath.Dir(file)), mode(t, file))
	}
	if err := os.WriteFile(filepath.Join(home, "index.sqlite"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	Tighten(home)
	if mode(t, filepath.Dir(file)) != 0o700 {
		t.Errorf("in dyno's home: %v", mode(t, filepath.Dir(file)))
	}
}

// A link that takes the place of a folder meanwhile is not followed, and one that is there neither.
func TestTightenFollowsNothing(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	file := filepath.Join(outside, "file")
	if err := errors.Join(os.Mkdir(outside, 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	home := homeOf(t)
	at, aside := filepath.Join(home, "data", "sha256"), filepath.Join(home, "data", "aside")
	over, swapped := make(chan struct{}), make(chan int)
	go func() { // who may write into a home that was left open
		n := 0
		defer func() { swapped <- n }()
		for {
			select {
			case <-over:
				return
			default:
			}
			err := errors.Join(os.Rename(at, aside), os.Symlink(outside, at), os.Remove(at), os.Rename(aside, at))
			if err != nil {
				return
			}
			n++
		}
	}()
	for range 5000 {
		for _, open := range []string{home, filepath.Join(home, "data")} {
			if err := os.Chmod(open, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		Tighten(home)
	}
	close(over)
	if n := <-swapped; n == 0 {
		t.Error("nothing was swapped")
	}
	for _, path := range []string{outside, file} {
		if got := mode(t, path); got&0o044 != 0o044 {
			t.Errorf("%s, outside: %v", filepath.Base(path), got)
		}
	}
}
