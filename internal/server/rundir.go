package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A RunDir is an open folder of a trial, or of one user in it. All that dyno writes into it goes
// through an os.Root and makes a new file, so that a link that somebody has planted is neither
// followed nor written through. Close it.
//
// A process of another user gets a folder within it and files of its own. A program that drops
// root by itself must say so (drops_root): dyno cannot know it beforehand.
type RunDir struct {
	root *os.Root

	// Readable has Write and Copy make files that every user may read. The zero value keeps them
	// to their owner.
	Readable bool
}

// OpenRunDir opens a folder that SocketDir has made, in a directory where nobody else can put
// another in its place. It is an error if it is another user's by now, or has other rights.
func OpenRunDir(path string) (*RunDir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	info, err := root.Stat(".")
	if err == nil && !isPrivate(info) {
		err = fmt.Errorf("%s is not the folder that was made: set TMPDIR to a directory in which "+
			"no other user can rename files", path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run directory: %w", err), root.Close())
	}
	return &RunDir{root: root}, nil
}

// Close ends the writing. The folder stays.
func (d *RunDir) Close() error { return d.root.Close() }

// Sub makes a folder within d, of that name, with mode 0700.
func (d *RunDir) Sub(name string) (*RunDir, error) {
	err := d.root.Mkdir(name, 0o700)
	if err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(name)
	return &RunDir{root: root}, err
}

// Share lets every user search d, mode 0711: who knows the name of what is in it gets there, and
// nobody else can list, add or remove anything.
func (d *RunDir) Share() error { return d.root.Chmod(".", 0o711) }

// Write makes a file with that text, and the folders that it lies in. One of the same name that
// is there, as copied, is replaced.
func (d *RunDir) Write(name, text string) error {
	return d.writeNew(name, 0o666, strings.NewReader(text))
}

// Copy makes a copy called name of a file, with its rights to execute, or of a folder with all
// in it. Links within the folder stay links.
func (d *RunDir) Copy(name, from string) error {
	from, err := filepath.EvalSymlinks(from) // what is named may be a link itself
	if err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		within, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return d.copyOne(filepath.Join(name, within), path, entry.Type())
	})
}

// copyOne copies what is at one path, but not what is in it.
func (d *RunDir) copyOne(name, from string, kind fs.FileMode) error {
	switch kind {
	case fs.ModeDir:
		return d.root.MkdirAll(name, d.modeOf(0o777))
	case fs.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return d.root.Symlink(target, name)
	case 0:
		file, err := os.Open(from)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		return d.writeNew(name, info.Mode().Perm()|d.modeOf(0o666), file)
	}
	return fmt.Errorf("%s is neither a file nor a folder", from)
}

// modeOf are those of a file or a folder that a program would make with mode.
func (d *RunDir) modeOf(mode fs.FileMode) fs.FileMode {
	if d.Readable {
		return mode &^ 0o022
	}
	return mode & 0o700
}

// writeNew makes a file of what content has.
func (d *RunDir) writeNew(name string, mode fs.FileMode, content io.Reader) error {
	if err := d.root.MkdirAll(filepath.Dir(name), d.modeOf(0o777)); err != nil {
		return err
	}
	file, err := create(d.root, name, d.modeOf(mode))
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// create makes a new file. One of that name, or a link, is taken away before.
func create(root *os.Root, name string, mode fs.FileMode) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	file, err := root.OpenFile(name, flags, mode)
	if errors.Is(err, fs.ErrExist) {
		if err = root.Remove(name); err == nil {
			file, err = root.OpenFile(name, flags, mode)
		}
	}
	return file, err
}

// createIn is create in the folder dir.
func createIn(dir, name string, mode fs.FileMode) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	file, err := create(root, name, mode)
	return file, errors.Join(err, root.Close())
}
