package store

import (
	"os"
	"path/filepath"
	"time"
)

// A Mark tells whether results or notes were stored, replaced or removed meanwhile: each of them
// changes the folder that they are in. A file that is written in its place does not.
type Mark struct{ folder os.FileInfo }

// MarkOf is the mark of a store as it is now. It is no other's, nor its own again, if there are no
// results, or if the last change is so new that one more could have the same time.
func MarkOf(home string) Mark {
	info, err := os.Stat(filepath.Join(home, "results"))
	if err != nil || time.Since(info.ModTime()).Abs() < unsettled {
		return Mark{}
	}
	return Mark{info}
}

// Equal reports whether nothing has changed from one mark to the other.
func (m Mark) Equal(other Mark) bool {
	return m.folder != nil && other.folder != nil && os.SameFile(m.folder, other.folder) &&
		m.folder.ModTime().Equal(other.folder.ModTime())
}
