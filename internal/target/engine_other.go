//go:build !linux || !(amd64 || arm64)

package target

import (
	"fmt"
	"net"

	"dyno/internal/engine/uring"
)

// newEngine returns the fastest engine of this platform.
func newEngine(s *site, l net.Listener) (engine, error) {
	if s.Ring != "auto" {
		return nil, fmt.Errorf("--ring %s is %w: it is for Linux on amd64 and arm64",
			s.Ring, uring.ErrRefused)
	}
	return newPortable(s, l), nil
}
