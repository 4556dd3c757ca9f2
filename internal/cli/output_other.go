//go:build !unix

package cli

import (
	"io/fs"
	"os"
)

// hasOtherNames is unknown on this system.
func hasOtherNames(fs.FileInfo) bool { return false }

// copyOwner does nothing: the folder decides the owner of its files.
func copyOwner(*os.File, fs.FileInfo) error { return nil }
