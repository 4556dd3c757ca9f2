package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"dyno/internal/result"
)

// longestNote is more than anybody will read, in bytes.
const longestNote = 64 << 10

// Note says text of a stored result, instead of what was said before; "" takes that
// back. The words that begin with # are its tags. When it returns, the note is in its
// file.
func (s *Store) Note(id, text string) error {
	if err := checkNote(text); err != nil {
		return err
	}
	if _, err := os.Lstat(s.file("results", id+".json")); !resultID.MatchString(id) || err != nil {
		return fmt.Errorf("no result %q is stored in %s", id, s.home)
	}
	path := s.file("results", id+".note")
	if err := replace(path, strings.TrimSpace(text)); err != nil {
		return fmt.Errorf("keeping a note on %s: %w", id, err)
	}
	return s.update([]string{"results/" + id + ".note"})
}

func checkNote(text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("the note is not UTF-8 text")
	case len(text) > longestNote:
		return fmt.Errorf("the note has %d bytes; %d are kept at most", len(text), longestNote)
	}
	return nil
}

// replace makes a file that holds a text, whole, whatever was there; none of "".
func replace(path, text string) error {
	if text == "" {
		err := os.Remove(path)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	}
	return overwrite(path, []byte(text+"\n"))
}

// overwrite makes a file, whole, whatever was there.
func overwrite(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err == nil {
		result.SyncFolder(filepath.Dir(path))
	}
	return err
}
