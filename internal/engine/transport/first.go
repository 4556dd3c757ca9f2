package transport

import (
	"context"
	"time"

	"dyno/internal/engine/dial"
	"dyno/internal/engine/ring"
)

// beside is after how long the next address of a name is tried beside those that do not answer. One
// that fails is followed by the next at once. Source: RFC 8305.
const beside = time.Duration(dial.Delay)

// First dials all addresses, at least one, in turn until one connects, and ends the
// dials that are still under way. The error is that of the first address.
func First[T any](ctx context.Context, all []ring.Addr,
	dial func(context.Context, ring.Addr) (T, error), drop func(T)) (first T, err error) {
	type outcome struct {
		addr int
		of   T
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, failures := make(chan outcome), make([]error, len(all))
	next := time.NewTimer(0)
	defer next.Stop()
	begun, under, connected := 0, 0, false
	for under > 0 || begun < len(all) && !connected {
		due := next.C
		if begun == len(all) || connected {
			due = nil
		}
		select {
		case <-due:
			at := begun
			begun, under = begun+1, under+1
			go func() {
				of, err := dial(ctx, all[at])
				ended <- outcome{at, of, err}
			}()
			next.Reset(beside)
		case o := <-ended:
			under--
			switch {
			case o.err != nil:
				failures[o.addr] = o.err
				next.Reset(0)
			case connected:
				drop(o.of)
			default:
				first, connected = o.of, true
				cancel()
			}
		}
	}
	if connected {
		return first, nil
	}
	return first, failures[0]
}
