//go:build !linux

package ring

// Kinds are the rings of this platform.
var Kinds = []string{"portable"}

func preferredKinds(int) []string { return Kinds }

var opener = openers{"portable": openPortable}
