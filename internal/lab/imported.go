package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// importedName is the file that marks an experiment that was imported. Its name begins with a dot,
// so no import brings it or takes it away.
const importedName = ".imported"

// MarkImported marks an experiment's folder: others wrote what it would run.
func MarkImported(dir string) error {
	return os.WriteFile(filepath.Join(dir, importedName), nil, 0o600)
}

// IsImported reports whether an experiment was imported. Where that cannot be known, it was.
func IsImported(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, importedName))
	return !errors.Is(err, fs.ErrNotExist)
}

// CheckSource reports that the file in an experiment's folder is not the one that its record says
// was run.
func CheckSource(content []byte, d Definition) error {
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != d.SHA256 {
		return fmt.Errorf("%s is not the file that was run: its SHA-256 is %x, and %s says %.64q",
			SourceFile, sum, RecordFile, d.SHA256)
	}
	return nil
}
