//go:build !unix

package hub

import "os"

// lockFile does nothing here: checkNotRunning still finds a hub that answers.
func lockFile(*os.File) (held bool, err error) { return false, nil }
