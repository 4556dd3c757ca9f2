//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// plantedFlag has a file opened only if it is no link, if its folder is one in which everybody
// makes links and nobody removes another's. A link of this user's or of the folder's owner's is
// followed.
func plantedFlag(name string) int {
	dir, err := os.Stat(filepath.Dir(name))
	if err != nil || dir.Mode()&fs.ModeSticky == 0 || dir.Mode().Perm()&0o002 == 0 {
		return 0
	}
	if link, err := os.Lstat(name); err == nil && link.Mode().Type() == fs.ModeSymlink {
		if by := ownerOf(link); by == os.Geteuid() || by == ownerOf(dir) {
			return 0
		}
	}
	return syscall.O_NOFOLLOW
}

func ownerOf(info fs.FileInfo) int {
	if s, is := info.Sys().(*syscall.Stat_t); is {
		return int(s.Uid)
	}
	return -1
}

// isPlanted reports whether an error is that of a link that is not followed.
func isPlanted(err error) bool { return errors.Is(err, syscall.ELOOP) }
