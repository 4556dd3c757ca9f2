package loadresult

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// A StreamSample is when events of one stream came.
type StreamSample struct {
	Due      time.Duration // after the window's start
	Each     int           // of its arrivals this is each so-many-th
	Arrivals []int64       // µs since due, ascending
}

// How many streams a worker samples, and arrivals of each; a result has as many.
const (
	RainStreams = 50
	RainDrops   = 128
)

// addRain adds samples, of which as many stay as a result has: evenly spread over the window.
func (t *BegunTotals) addRain(from []StreamSample) {
	if len(from) == 0 {
		return
	}
	all := slices.Concat(t.Rain, from)
	slices.SortStableFunc(all, func(a, b StreamSample) int { return cmp.Compare(a.Due, b.Due) })
	if n := len(all); n > RainStreams {
		for i := range RainStreams {
			all[i] = all[i*n/RainStreams]
		}
		all = all[:RainStreams]
	}
	t.Rain = all
}

// checkRain fails if samples are more than a generator takes, or none.
func checkRain(all []StreamSample) error {
	if len(all) > RainStreams {
		return errors.New("it has more samples of streams than are taken")
	}
	for _, s := range all {
		if len(s.Arrivals) > RainDrops || s.Each < 1 || !slices.IsSorted(s.Arrivals) ||
			len(s.Arrivals) > 0 && s.Arrivals[0] < 0 {
			return errors.New("a sample of a stream is none")
		}
	}
	return nil
}
