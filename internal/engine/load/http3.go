package load

import (
	"runtime"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
)

// openRing opens the ring of one worker.
func (r *run) openRing() (ring.Opened, error) {
	if r.protocols.HTTP3 == nil {
		return ring.Open(r.plan.Ring, ring.Size{Sockets: r.plan.Connections / r.threads,
			Deep: r.plan.Depth() > 1}, r.addrsOfAll())
	}
	g, free, err := h3.Open(*r.protocols.HTTP3, r.plan.ProtoRequests(), r.plan.Want(), r.addrs)
	return ring.Opened{Ring: g, Kind: loadplan.HTTP3Ring, Free: free}, err
}

// shareOfCPUs is how much of its CPUs' time the process used, including quic-go's goroutines.
func (r *run) shareOfCPUs() float64 {
	if r.result.Ring != loadplan.HTTP3Ring || r.result.Measured <= 0 {
		return 0
	}
	return float64(r.result.CPU) / float64(r.result.Measured) / float64(runtime.NumCPU())
}
