//go:build !unix

package lab

import "os"

// canLock is whether lockFile locks.
const canLock = false

// lockFile does nothing on this system. Two processes that resume one experiment at once fail when
// they store the same trial.
func lockFile(*os.File) error { return nil }
