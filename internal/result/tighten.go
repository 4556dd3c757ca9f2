package result

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
)

// What dyno makes in a home, by name; and of that what nobody else gives such a name.
var (
	made = regexp.MustCompile(`^(results|experiments|data|changes|fleet|agents|serve|` +
		`index\.sqlite(-wal|-shm)?|redact\.key|calibration-[0-9a-z]+\.json|` +
		`\.(import-|calibration-|redact\.key).*)$`)
	sure = regexp.MustCompile(`^(index\.sqlite(-wal|-shm)?|redact\.key|calibration-[0-9a-z]+\.json|` +
		`[0-9]{8}-[0-9]{6}-[0-9a-f]{4}\..+|[0-9a-f]{64}\.jsonl)$`)
)

// Tighten takes from all others the right to read what is in home, if another version or another
// mask has given it. Where home is a folder that has other things in it too, it stays as it is, and
// only files that are dyno's without doubt are made private. The folders of experiments are as
// their user wants them: none but the user can enter a home that is dyno's alone. What belongs to
// another user, and links, are left alone.
func Tighten(home string) {
	info, err := os.Lstat(home)
	if err != nil || !info.IsDir() || runtime.GOOS == "windows" {
		return
	}
	entries, err := os.ReadDir(home)
	if err != nil {
		return
	}
	other := func(e fs.DirEntry) bool { return !made.MatchString(e.Name()) }
	if ours(home, entries) && !slices.ContainsFunc(entries, other) {
		if wide(info) {
			os.Chmod(home, 0o700) // fails of another user's, which is theirs to mend
		}
		for _, e := range entries {
			name := e.Name()
			tighten(filepath.Join(home, name), e, func(below string) bool {
				return name != "experiments" || below == name
			})
		}
		return
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.IsDir(), name == "results", name == "data":
			tighten(filepath.Join(home, name), e, sure.MatchString)
		}
	}
}

// ours reports whether a home has anything in it that nobody but dyno makes.
func ours(home string, entries []fs.DirEntry) bool {
	results, _ := os.ReadDir(folder(home)) // none is none
	return slices.ContainsFunc(append(results, entries...), func(e fs.DirEntry) bool {
		return sure.MatchString(e.Name())
	})
}

// wide reports whether others than the owner may do anything with a file or folder.
func wide(info fs.FileInfo) bool {
	return (info.IsDir() || info.Mode().IsRegular()) && info.Mode().Perm()&0o077 != 0
}

// tighten makes private what is at a path, if it is not: a file, or a folder with what is directly
// and further below it. Of a folder that is private nothing is looked at.
func tighten(path string, e fs.DirEntry, which func(name string) bool) {
	if info, err := e.Info(); err != nil || !wide(info) {
		return
	}
	filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone, or not to be read
		}
		if info, err := e.Info(); err == nil && wide(info) && which(e.Name()) {
			os.Chmod(path, info.Mode().Perm()&0o700)
		}
		return nil
	})
}
