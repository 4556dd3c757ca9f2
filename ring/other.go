//go:build !linux

package ring

// Kinds are the rings of this platform, the fastest first.
var Kinds = []string{"portable"}

var opener = map[string]func([]Addr) (Ring, func(), error){"portable": openPortable}
