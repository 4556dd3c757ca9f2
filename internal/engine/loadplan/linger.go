package loadplan

import (
	"fmt"
	"runtime"
	"time"
)

// NoLinger is the Linger of a load whose threads look at each answer at once.
const NoLinger = "off"

// lingerMost is the longest Linger.
const lingerMost = 10 * time.Millisecond

// LingerFor is for how long answers gather, if Linger says so: 0 with NoLinger, and without a
// Linger, where it is a share of the median latency (package batching).
func (p *Plan) LingerFor() (time.Duration, error) {
	if p.Linger == "" || p.Linger == NoLinger {
		return 0, nil
	}
	d, err := time.ParseDuration(p.Linger)
	if err != nil || d < time.Microsecond || d > lingerMost {
		return 0, fmt.Errorf("%q is neither %s nor a time from 1us to %v, as 100us",
			p.Linger, NoLinger, lingerMost)
	}
	return d, nil
}

// checkLinger checks Linger, and whether answers may gather in such a load at all.
func (p *Plan) checkLinger(flaw finder) {
	d, err := p.LingerFor()
	flaw(err != nil, "Linger", "%v", err)
	if d == 0 {
		return
	}
	flaw(p.Open(), "Linger", "answers gather in a closed loop alone: in an open one the wait would "+
		"be latency").Mend = "leave it out"
	flaw(p.Stream.IsSet(), "Linger", "events are not let gather: their times are measured").Mend =
		"leave it out"
	flaw(p.OnlyHTTP3() || p.Ring == "portable" || runtime.GOOS != "linux", "Linger", "HTTP/3 and the "+
		"portable ring, the only one of other systems than Linux, hand over each answer as it comes").
		Mend = "leave it out"
	flaw(p.Spin, "Linger", "threads that spin look at each answer at once").Mend =
		"leave out {Linger} or {Spin}"
}
