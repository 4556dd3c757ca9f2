package store

import (
	"os"
	"path/filepath"
	"time"
)

// A Mark identifies a state of a store. Storing, replacing or removing results or notes changes
// their folder, and so the mark. Writing to an existing file does not.
type Mark struct{ folder os.FileInfo }

// MarkOf is the mark of a store as it is now. It equals no other mark, not even a later one of the
// same state, if there are no results, or if the last change is so recent that another could have
// the same time.
func MarkOf(home string) Mark {
	info, err := os.Stat(filepath.Join(home, "results"))
	if err != nil || time.Since(info.ModTime()).Abs() < unsettled {
		return Mark{}
	}
	return Mark{info}
}

// Equal reports whether nothing changed between the marks.
func (m Mark) Equal(other Mark) bool {
	return m.folder != nil && other.folder != nil && os.SameFile(m.folder, other.folder) &&
		m.folder.ModTime().Equal(other.folder.ModTime())
}
