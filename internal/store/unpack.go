package store

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// What an archive may have at most: far more than a store of years, and so little that one
// made to fill a disk does not.
const (
	archiveFiles = 1_000_000
	archiveFile  = 1 << 30 // bytes
	archiveAll   = 32 << 30
)

// unpack puts an archive's files below dir, and nothing outside it: names that lead
// elsewhere, links and devices are faults.
func unpack(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("not an archive of dyno export: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var all int64
	from := tar.NewReader(zipped)
	for n := 0; ; n++ {
		h, err := from.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not an archive of dyno export, or a damaged one: %w", err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		if all += h.Size; n >= archiveFiles || h.Size > archiveFile || all > archiveAll {
			return fmt.Errorf("%s: more than an archive may have: %d files, %d GiB each, %d GiB in all",
				h.Name, archiveFiles, archiveFile>>30, int64(archiveAll)>>30)
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(h.Name)) {
			return fmt.Errorf("%q is not a file of dyno export: it is no regular file, or lies elsewhere",
				h.Name)
		}
		if err := unpackFile(root, h.Name, from); err != nil {
			return fmt.Errorf("unpacking %q: %w", h.Name, err)
		}
	}
}

func unpackFile(root *os.Root, name string, from io.Reader) error {
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
