package bus

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"dyno/internal/atomicfile"
)

// WriteJSON writes v as JSON to a file that only its owner may read, atomically. It makes the
// folder if there is none.
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, append(b, '\n'))
}

func replaceFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, 0o600, atomicfile.ContentWriter(b))
}

// ReadJSON reads what WriteJSON wrote. The error is fs.ErrNotExist if there is no such file.
func ReadJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := decodeStrict(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
