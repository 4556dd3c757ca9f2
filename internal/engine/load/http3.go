package load

import (
	"runtime"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	ptls "dyno/internal/engine/proto/tls"
	"dyno/internal/engine/ring"
)

// openRing opens the ring of one worker.
func (r *run) openRing() (ring.Opened, error) {
	if r.protocols.HTTP3 == nil {
		return ring.Open(r.plan.Ring, r.plan.Connections/r.threads, r.addrs)
	}
	g, free, err := h3.Open(*r.protocols.HTTP3, r.plan.ProtoRequests(), r.plan.Want(), r.addrs)
	return ring.Opened{Ring: g, Kind: loadplan.HTTP3Ring, Free: free}, err
}

// A quicBytes is how many bytes QUIC has received and sent. They do not pass through the worker.
type quicBytes struct{ received, sent int64 }

// quicBytesOf returns the bytes of a ring of HTTP/3; ok is false for another ring.
func quicBytesOf(g ring.Ring) (now quicBytes, ok bool) {
	q, ok := g.(*h3.Ring)
	if ok {
		now.received, now.sent = q.Traffic()
	}
	return now, ok
}

// countQUICBytes adds the bytes of QUIC to an interval. The worker itself sees only the records of
// its ring.
func (m *meter) countQUICBytes(g ring.Ring, count *metric.Counters) {
	now, ok := quicBytesOf(g)
	if !ok {
		return
	}
	if m.ended {
		now = m.quicEnd
	}
	count.Received, count.Written = now.received-m.quic.received, now.sent-m.quic.sent
	m.quic = now
}

// http3Unanswered explains an HTTP/3 target that does not answer: few servers support HTTP/3.
func (r *run) http3Unanswered() string {
	res := r.result
	if r.protocols.HTTP3 == nil || res.Ended != loadresult.Unreachable || len(res.Failures) == 0 ||
		res.Failures[0].Phase != loadresult.Connect {
		return ""
	}
	return "HTTP/3 is over UDP, and nobody answered there: the server may not speak it, or a " +
		"firewall drops it; --http 2 and 1.1 are over TCP"
}

// shareOfCPUs is how much of its CPUs' time the process used in the window. It includes the
// library's goroutines, which run in addition to the workers.
func (r *run) shareOfCPUs() float64 {
	if r.result.Ring != loadplan.HTTP3Ring || r.result.Measured <= 0 {
		return 0
	}
	return float64(r.result.CPU) / float64(r.result.Measured) / float64(runtime.NumCPU())
}

// tlsTerms are the terms of a worker's handshakes.
func (w *worker) tlsTerms() map[ptls.Terms]int64 {
	if !w.plan.Target.TLS {
		return nil
	}
	if w.plan.OnlyHTTP3() {
		return h3.Settled(w.newCodec(nil))
	}
	return ptls.Settled(w.newCodec(nil))
}
