//go:build !linux

package profile

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Record samples process trees with perf, which is a part of Linux: here it fails with
// ErrUnavailable.
func Record(context.Context, []int, time.Duration) (*Profile, error) {
	return nil, fmt.Errorf("%w: perf is a part of Linux, this is %s; of a Go server, take a "+
		"profile by its pprof URL", ErrUnavailable, runtime.GOOS)
}
