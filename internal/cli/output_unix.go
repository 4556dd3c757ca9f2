//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// hasOtherNames reports whether a file has several hard links.
func hasOtherNames(info fs.FileInfo) bool {
	stat, is := info.Sys().(*syscall.Stat_t)
	return is && stat.Nlink > 1
}

// copyOwner gives f the owner and the group of another file.
func copyOwner(f *os.File, other fs.FileInfo) error {
	want, is := other.Sys().(*syscall.Stat_t)
	info, err := f.Stat()
	if err != nil || !is {
		return err
	}
	if has, is := info.Sys().(*syscall.Stat_t); is && has.Uid == want.Uid && has.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
