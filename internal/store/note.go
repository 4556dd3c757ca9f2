package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"dyno/internal/atomicfile"
)

// longestNote is the longest note, in bytes.
const longestNote = 64 << 10

// Note sets the note of a stored result, and replaces an earlier one; "" removes it. Words that
// begin with # are its tags. When Note returns, the note is in its file.
func (s *Store) Note(id, text string) error {
	if err := checkNote(text); err != nil {
		return err
	}
	if _, err := os.Lstat(s.pathOf("results", id+".json")); !resultID().MatchString(id) || err != nil {
		return fmt.Errorf("no result %q is stored in %s", id, s.home)
	}
	path := s.pathOf("results", id+".note")
	if err := replaceNote(path, strings.TrimSpace(text)); err != nil {
		return fmt.Errorf("keeping a note on %s: %w", id, err)
	}
	return s.updateIndex([]string{"results/" + id + ".note"})
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

// replaceNote writes a text to a file, completely, or removes the file if the text is "".
func replaceNote(path, text string) error {
	if text == "" {
		err := os.Remove(path)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	}
	return atomicfile.Replace(path, 0o600, atomicfile.ContentWriter([]byte(text+"\n")))
}
