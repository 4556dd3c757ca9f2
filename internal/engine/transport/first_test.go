package transport

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"dyno/internal/engine/ring"
)

// An address that fails is followed by the next at once, one that does not answer after a while,
// and nothing is left of those that were not the first.
func TestFirst(t *testing.T) {
	type does struct {
		after time.Duration
		err   string
	}
	const late = "connects although it was ended"
	const never = time.Hour
	for name, c := range map[string]struct {
		all     []does
		first   int // -1: none
		took    time.Duration
		err     string
		dropped int
	}{
		"one":               {all: []does{{time.Second, ""}}, took: time.Second},
		"refused":           {all: []does{{0, "refused"}, {time.Millisecond, ""}}, first: 1, took: time.Millisecond},
		"silent":            {all: []does{{never, ""}, {time.Millisecond, ""}}, first: 1, took: beside + time.Millisecond},
		"two silent":        {all: []does{{never, ""}, {never, ""}, {0, ""}}, first: 2, took: 2 * beside},
		"slow, and first":   {all: []does{{beside + 1, ""}, {time.Second, ""}, {0, ""}}, first: 0, took: beside + 1},
		"both":              {all: []does{{time.Second, late}, {0, ""}}, first: 1, took: time.Second, dropped: 1},
		"silent, then none": {all: []does{{never, "timeout"}, {0, "refused"}}, first: -1, took: never, err: "timeout"},
		"none":              {all: []does{{0, "refused"}, {0, "unreachable"}}, first: -1, err: "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all []ring.Addr
				for i := range c.all {
					all = append(all, ring.Addr{TCP: netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(i))})
				}
				began, dropped := time.Now(), 0
				got, err := First(t.Context(), all, func(ctx context.Context, to ring.Addr) (int, error) {
					d := c.all[to.TCP.Port()]
					if d.err == late {
						time.Sleep(d.after)
						return int(to.TCP.Port()), nil
					}
					select {
					case <-ctx.Done():
						return 0, ctx.Err()
					case <-time.After(d.after):
					}
					if d.err != "" {
						return 0, errors.New(d.err)
					}
					return int(to.TCP.Port()), nil
				}, func(int) { dropped++ })
				if took := time.Since(began); took != c.took || dropped != c.dropped {
					t.Errorf("it took %v, want %v; %d dropped", took, c.took, dropped)
				}
				if c.first < 0 && (err == nil || err.Error() != c.err) || c.first >= 0 && (err != nil || got != c.first) {
					t.Errorf("address %d, %v", got, err)
				}
			})
		})
	}
}
