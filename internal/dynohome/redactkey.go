package dynohome

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"dyno/internal/atomicfile"
	"dyno/internal/redact"
)

// keyFile is the file of a home that has the key of its marks, and keyBytes its length.
const (
	keyFile  = "redact.key"
	keyBytes = 32
)

// Marks is what stands in the place of secrets in what is stored under home, and in what is
// written besides. Its key is home's own, and is made when there is first something to mark. Where
// it can be neither read nor stored the marks have a key that nobody keeps: then they tell apart
// only what one process has marked.
func Marks(home string) redact.Replacer { return MarksFor(home, "") }

// MarksFor is likewise for a purpose, whose marks cannot be compared with those of others: its key
// is derived from home's.
//
// Example: whoever may load from the dashboard has values marked and sees the marks of all results.
// With one key they could test guesses at what others loaded with. A field's name in the HMAC would
// not help, because who guesses names the field. The price: a load of a form and the same load of
// dyno run have different marks.
func MarksFor(home, purpose string) redact.Replacer {
	return redact.Marks(sync.OnceValue(func() []byte {
		key, err := markKey(home)
		if err != nil {
			key = make([]byte, keyBytes)
			rand.Read(key) // which never fails
		}
		if purpose == "" {
			return key
		}
		derived := hmac.New(sha256.New, key)
		io.WriteString(derived, "marks for "+purpose)
		return derived.Sum(nil)
	}))
}

// CheckMarks reports a key of home's marks that is there and cannot be read: what would be marked
// by another could not be compared with anything. The error says what the user can do.
func CheckMarks(home string) error {
	path := filepath.Join(home, keyFile)
	if _, err := os.Lstat(path); home == "" || err != nil {
		return nil // a home that is none is told by what is to be stored there
	}
	if _, err := markKey(home); err != nil {
		return fmt.Errorf("the key of the marks that stand in the place of secrets cannot be read: %w; "+
			"make %s readable for you alone (chown, chmod 600), or remove it: new marks can then not "+
			"be compared with old ones", err, path)
	}
	return nil
}

// markKey is the key of the marks of home, which is made if there is none. Of several processes
// that want to make it one does, and all get that one's.
func markKey(home string) ([]byte, error) {
	if home == "" {
		return nil, errors.New("there is no place for a key")
	}
	path := filepath.Join(home, keyFile)
	for range attempts {
		key, err := os.ReadFile(path)
		if err == nil && len(key) != keyBytes {
			return nil, fmt.Errorf("%s is no key: it has %d bytes, and not %d", path, len(key), keyBytes)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		if err := os.MkdirAll(home, 0o700); err != nil {
			return nil, err
		}
		err = atomicfile.Create(path, func(w io.Writer) error {
			_, err := io.CopyN(w, rand.Reader, keyBytes)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err != nil {
			time.Sleep(attemptTime) // another process makes it just now
		}
	}
	return nil, fmt.Errorf("another process makes %s, and does not end", path)
}
