//go:build !linux || !(amd64 || arm64)

package target

import "net"

// newEngine returns the fastest engine of this platform.
func newEngine(s *site, l net.Listener) (engine, error) { return newPortable(s, l), nil }
