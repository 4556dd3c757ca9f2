package store

import (
	"path/filepath"
	"strings"
	"unicode"

	"dyno/internal/lazyregexp"
)

// idText matches a result's ID.
const idText = `[0-9]{8}-[0-9]{6}-[0-9a-f]{4}`

var (
	resultID = lazyregexp.New(`^` + idText + `$`)
	changeID = lazyregexp.New(`^` + idText + `-[a-z0-9._]+$`)
)

// isFolder reports whether name can be the name of an experiment's folder in the store.
func isFolder(name string) bool {
	plain := !strings.ContainsFunc(name, func(r rune) bool {
		return r == '/' || r == '\\' || !unicode.IsPrint(r)
	})
	return plain && filepath.IsLocal(name) && !strings.HasPrefix(name, ".")
}
