//go:build unix

package server

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// isPrivate reports whether a folder is this user's, who alone may enter it.
func isPrivate(info fs.FileInfo) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && int(stat.Uid) == os.Geteuid() && info.Mode().Perm() == 0o700
}

// steady is the directory dir without links. It is an error if another user can rename what is in
// it, or a directory on the way to it: then nothing that is made there stays what it is.
func steady(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return "", err
		}
		owner := int(info.Sys().(*syscall.Stat_t).Uid)
		switch shared := info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0; {
		case owner != 0 && owner != os.Geteuid() && mapped(owner):
			return "", fmt.Errorf("the user %d, whose directory %s is, can rename what is in it: set "+
				"TMPDIR to one of yours or of root's", owner, at)
		case shared:
			return "", fmt.Errorf("other users can rename what is in %s (%v): chmod +t %s, or set "+
				"TMPDIR to a directory in which they cannot", at, info.Mode(), at)
		case at == filepath.Dir(at):
			return dir, nil
		}
	}
}

// mapped reports whether there are processes of a user in this namespace of users. What belongs to
// all others seems to be one user's, the overflow user's, and may be root's.
func mapped(user int) bool {
	lines, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return true // a system that has no such namespaces
	}
	overflow, _ := os.ReadFile("/proc/sys/kernel/overflowuid")
	return mapsUser(string(lines), string(overflow), user)
}

// mapsUser is mapped, for the text of a uid_map. Where that is not of all users, the overflow user
// is taken for one of those it lacks, though a container's map may have its number.
func mapsUser(lines, overflow string, user int) bool {
	var first, outside, n int
	fmt.Sscan(lines, &first, &outside, &n)
	all := first == 0 && outside == 0 && n == math.MaxUint32
	if number, err := strconv.Atoi(strings.TrimSpace(overflow)); err == nil && number == user && !all {
		return false
	}
	for line := range strings.Lines(lines) {
		_, err := fmt.Sscan(line, &first, &outside, &n)
		if err == nil && user >= first && user-first < n {
			return true
		}
	}
	return false
}
