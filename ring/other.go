//go:build !linux

package ring

// Kinds are the rings of this platform, in the order in which "auto" tries them.
var Kinds = []string{"portable"}

var opener = openers{"portable": openPortable}
