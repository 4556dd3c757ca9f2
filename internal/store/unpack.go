package store

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lazyregexp"
	"dyno/internal/observe/profile"
)

// What an archive may have at most: far more than a store of years, and so little that one
// made to fill a disk does not.
const (
	archiveFiles = 1_000_000
	archiveFile  = 1 << 30 // bytes
	archiveAll   = 32 << 30

	// What is larger than archivePlain may be that many times the archive's own size. Logs of equal
	// lines come near.
	archivePlain = 1 << 30
	archiveRatio = 100
)

// A sizeLimit is how large a file of a store may be whose name matches.
type sizeLimit struct {
	name func() *regexp.Regexp
	most int64
}

// storeFiles are the files of a store, but for those of experiments.
var storeFiles = []sizeLimit{
	{lazyregexp.New(`^(results/)?[^/]+\.json$`), longestResult},
	{lazyregexp.New(`^(results/)?[^/]+\.note$`), longestNote},
	{lazyregexp.New(`^(results/)?[^/]+\.pb\.gz$`), profile.MaxEncoded},
	{lazyregexp.New(`^changes/[^/]+\.json$`), 1 << 20},
	{lazyregexp.New(`^data/sha256/[^/]+$`), archiveFile},
}

// experimentFiles are the files of an experiment's folder.
var experimentFiles = []sizeLimit{
	{lazyregexp.New(`^experiment\.json$`), longestResult},
	{lazyregexp.New(`^(experiment|vs)\.yaml$`), longestSource},
	{lazyregexp.New(`^report\.(md|html)$`), 256 << 20},
	{lazyregexp.New(`^trials/[^/]+\.json$`), longestResult},
	{lazyregexp.New(`^profiles/[^/]+\.pb\.gz$`), profile.MaxEncoded},
	{lazyregexp.New(`^data/sha256/[^/]+$`), archiveFile},
	{lazyregexp.New(`^(output|files)/.+$`), archiveFile},
}

// limitOf is the limit of the first of all that a name matches; 0 if it matches none.
func limitOf(all []sizeLimit, name string) int64 {
	for _, l := range all {
		if l.name().MatchString(name) {
			return l.most
		}
	}
	return 0
}

// inExperiment splits the name of a file in an experiment's folder.
var inExperiment = lazyregexp.New(`^experiments/([^/]+)/(.+)$`)

// A survey is what was found out about an archive before anything of it is written.
type survey struct {
	records map[string]bool // of an experiment: whether it is one
	files   int64
	bytes   int64 // of all files, skipped ones too
	most    int64 // that bytes may be
}

// unpack puts an archive's files below dir, and nothing outside it: names that lead elsewhere,
// links and devices are faults, and so are names that no store has. It reads the archive twice, and
// writes nothing before all names and sizes are known to be good and to fit into room.
func unpack(archive, dir string, free room) error {
	info, err := os.Stat(archive)
	if err != nil {
		return err
	}
	s := survey{records: map[string]bool{},
		most: min(archiveAll, max(archivePlain, archiveRatio*info.Size()))}
	if err = eachFile(archive, s.look); err == nil {
		err = s.check(free)
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return eachFile(archive, func(h *tar.Header, name string, from io.Reader) error {
		if !s.wants(name) {
			return nil
		}
		if err := unpackFile(root, name, from); err != nil {
			return fmt.Errorf("unpacking %q: %w", h.Name, err)
		}
		return nil
	})
}

// eachFile calls do with each file of an archive and its plain name.
func eachFile(archive string,
	do func(h *tar.Header, name string, from io.Reader) error) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("not an archive of dyno export: %w", err)
	}
	from := tar.NewReader(zipped)
	for {
		h, err := from.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("not an archive of dyno export, or a damaged one: %w", err)
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(h.Name)):
			return fmt.Errorf("%q is not a file of dyno export: it is no regular file, or lies "+
				"elsewhere", h.Name)
		}
		if err := do(h, path.Clean(h.Name), from); err != nil {
			return err
		}
	}
}

// look looks at one file, and reads it if it is JSON.
func (s *survey) look(h *tar.Header, name string, from io.Reader) error {
	all, below := storeFiles, name
	parts := inExperiment().FindStringSubmatch(name)
	if parts != nil {
		all, below = experimentFiles, parts[2]
	}
	most := limitOf(all, below)
	switch {
	case most == 0 && parts == nil:
		return fmt.Errorf("%q is not a file of dyno export, which writes no such name", h.Name)
	case most > 0 && h.Size > most:
		return fmt.Errorf("%q has %d bytes; import takes at most %d of such a file", h.Name, h.Size,
			most)
	}
	s.files++
	if s.bytes += h.Size; s.files > archiveFiles || s.bytes > s.most {
		return fmt.Errorf("%s: more than an archive of this size may have: %d files, %d GiB in all; "+
			"unpack it if you trust it, and import the folder", h.Name, archiveFiles, s.most>>30)
	}
	if path.Ext(below) != ".json" || strings.HasPrefix(below, "output/") ||
		strings.HasPrefix(below, "files/") {
		return nil
	}
	var head struct{ Format string }
	if err := json.NewDecoder(io.LimitReader(from, h.Size)).Decode(&head); err != nil {
		return fmt.Errorf("%q is not what dyno export writes: %w", h.Name, err)
	}
	if parts != nil && below == lab.RecordFile {
		s.records[parts[1]] = head.Format == lab.ExperimentFormat
	}
	return nil
}

// check reports that what was seen needs more than is free. Each file is written once to be read,
// and once where it belongs.
func (s *survey) check(free room) error {
	if s.bytes > free.bytes/2 || s.files > free.files/2 {
		return fmt.Errorf("%d files of %d MiB in all, which are written twice, need more than the "+
			"%d MiB and %d files that are free; set DYNO_HOME to another disk", s.files, s.bytes>>20,
			free.bytes>>20, free.files)
	}
	return nil
}

// wants reports whether a file is unpacked: a file of the store, a record, or what an experiment's
// folder has beside a record that is one. What else lies there is no part of the experiment.
func (s *survey) wants(name string) bool {
	parts := inExperiment().FindStringSubmatch(name)
	if parts == nil {
		return true
	}
	return parts[2] == lab.RecordFile ||
		s.records[parts[1]] && limitOf(experimentFiles, parts[2]) > 0
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

// A room is how much a file system still takes, in bytes and in files.
type room struct{ bytes, files int64 }

// filesOfExperiment are the files of an experiment's folder that are part of it, named below name.
func filesOfExperiment(dir, name string) ([]file, error) {
	all, err := filesBelow(dir, "")
	own := all[:0]
	for _, f := range all {
		if limitOf(experimentFiles, f.name) > 0 {
			f.name = path.Join(name, f.name)
			own = append(own, f)
		}
	}
	return own, err
}
