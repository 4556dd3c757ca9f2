//go:build unix

package server

import (
	"io/fs"
	"os"
	"syscall"
)

// isPrivate reports whether a folder is this user's, who alone may enter it.
func isPrivate(info fs.FileInfo) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && int(stat.Uid) == os.Geteuid() && info.Mode().Perm() == 0o700
}
