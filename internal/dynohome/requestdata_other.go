//go:build !unix

package dynohome

// lockData does nothing: this system has no locks that end with their process.
func lockData(string, bool) (release func(), err error) { return func() {}, nil }
