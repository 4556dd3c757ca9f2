package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dyno/internal/lab/experiment"
	"dyno/internal/server"
)

// fillRunDir writes the instance's files into the run directory dir, and into the folders of other
// users within it. Only users that need access have it: dyno's own, and those of the processes.
func fillRunDir(dir string, i *experiment.Instance) (err error) {
	run, err := server.OpenRunDir(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	run.Readable = i.DropsRoot && os.Geteuid() == 0
	shared := run.Readable
	for _, f := range i.Folders {
		if f.User == "" {
			err = fillFolder(run, f)
		} else {
			shared = true
			err = fillUserFolder(run, f)
		}
		if err != nil {
			return err
		}
	}
	if shared {
		return run.Share()
	}
	return nil
}

// fillUserFolder creates and fills the folder of a user, and makes the user its owner.
func fillUserFolder(run *server.RunDir, f experiment.Folder) (err error) {
	own, err := run.Sub(filepath.Base(f.Path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	if err := fillFolder(own, f); err != nil {
		return err
	}
	if err := own.Give(f.User); err != nil {
		return &server.Failure{Kind: server.CannotStart, Reason: err.Error()}
	}
	return nil
}

// fillFolder writes a folder's files. A written file replaces a copied one.
func fillFolder(to *server.RunDir, f experiment.Folder) error {
	for _, c := range f.Copy {
		if err := to.Copy(c.Path, c.Text); err != nil {
			return fmt.Errorf("copying %s: %w", c.Text, err)
		}
	}
	for _, file := range f.Files {
		if err := to.Write(file.Path, file.Text); err != nil {
			return fmt.Errorf("writing %s: %w", file.Path, err)
		}
	}
	return nil
}
