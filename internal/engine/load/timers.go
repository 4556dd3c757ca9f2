package load

// A timer is when a connection, or a user, wants to be looked at.
type timer struct {
	at int64
	of uint32
}

// timers is a heap of timers, the earliest first. A timer that has become obsolete stays until it
// expires: each connection has one that counts, and its owner knows which. So a request that is
// answered in time costs nothing here.
type timers []timer

func (t *timers) pushTimer(at int64, of uint32) {
	*t = append(*t, timer{at, of})
	h := *t
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].at <= h[i].at {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// popExpired removes and returns the earliest timer if it is not after now.
func (t *timers) popExpired(now int64) (timer, bool) {
	h := *t
	if len(h) == 0 || h[0].at > now {
		return timer{}, false
	}
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	*t = h
	for i := 0; ; {
		low := 2*i + 1
		if low+1 < last && h[low+1].at < h[low].at {
			low++
		}
		if low >= last || h[i].at <= h[low].at {
			return first, true
		}
		h[i], h[low] = h[low], h[i]
		i = low
	}
}

// earliest is the instant of the earliest timer, or never.
func (t timers) earliest(never int64) int64 {
	if len(t) == 0 {
		return never
	}
	return t[0].at
}
