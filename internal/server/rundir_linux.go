package server

import (
	"io/fs"
	"os"
)

// Give makes user, written as Process.User, the owner of d and of all in it; other users may
// search it. It has to be the last that is done with d. Without the right to do so it does
// nothing: then the process cannot be started either, and says so.
func (d *RunDir) Give(user string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	id, err := lookUp(user)
	if err != nil {
		return err
	}
	err = fs.WalkDir(d.root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		return d.root.Lchown(path, id.uid, id.gid)
	})
	if err != nil {
		return err
	}
	if err := d.Share(); err != nil {
		return err
	}
	return d.root.Chown(".", id.uid, id.gid)
}
