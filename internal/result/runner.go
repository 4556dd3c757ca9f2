package result

import (
	"context"

	"dyno/internal/engine/load"
)

// A Runner makes the load of a plan and returns its result: load.Run on this machine, a process
// of its own, or agents whose results are merged. It calls each once a second, from one
// goroutine, and for the last time before it returns.
type Runner func(ctx context.Context, p load.Plan, each func(load.Interval)) (*Result, error)
