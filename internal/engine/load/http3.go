package load

import (
	"crypto/tls"
	"runtime"
	"time"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// HTTP3Ring is the kind of ring that does HTTP/3: the library that speaks it.
const HTTP3Ring = "quic-go"

// OnlyHTTP3 reports whether connections speak HTTP/3: only where it is asked for.
func (p *Plan) OnlyHTTP3() bool { return p.HTTP == "3" }

// checkHTTP3 is Check of what HTTP/3 cannot do, or dyno not with it.
func (p *Plan) checkHTTP3(flaw func(bool, string, string, ...any)) {
	t := p.Target
	if !p.OnlyHTTP3() || t.FastCGI { // which is refused by itself
		return
	}
	flaw(!t.TLS, "--http", "HTTP/3 is always over TLS, and %s is not; write https://", t.URL)
	flaw(p.Pipeline > 1, "--pipeline", "HTTP/3 has no pipelining, but streams; give only --streams")
	flaw(p.Ring != "auto", "--ring", "HTTP/3 does its own input and output, by quic-go: leave it out")
	flaw(p.Spin, "--spin", "the goroutines of quic-go, which speaks HTTP/3, sleep as they like")
	flaw(len(p.CPUs) > 0, "--cpus", "the goroutines of quic-go, which speaks HTTP/3, run on all CPUs "+
		"that the process may use: start dyno under taskset instead")
	_, high := p.TLS.versionRange()
	flaw(high != 0 && high < tls.VersionTLS13, "--tls-max", "HTTP/3 has TLS 1.3 and no other")
	flaw(p.TLS.ALPN == NoALPN, "--alpn", "without %q there is no HTTP/3", HTTP3)
}

// setHTTP3 makes it HTTP/3 that the plan's connections speak.
func (s *protocolSet) setHTTP3(p *Plan) error {
	config, err := p.tlsConfig()
	if err == nil {
		err = s.logKeys(p.TLS.KeyLogFile, config)
	}
	if err != nil {
		return err
	}
	s.http3 = &h3.Options{TLS: config, Resume: p.TLS.Resume,
		Connecting: time.Duration(p.Connecting), Streams: p.Streams, CloseAfter: p.Reconnect,
		UserAgent: agent}
	s.Protocol = h3.Protocol(*s.http3)
	s.addNotice("HTTP/3 is spoken by quic-go, on goroutines of its own: a request takes about five " +
		"times the CPU time of HTTP/2, and what goroutines wait for a CPU is in the latency")
	return nil
}

// openRing is the ring of one worker.
func (r *run) openRing() (ring.Opened, error) {
	if r.protocols.http3 == nil {
		return ring.Open(r.plan.Ring, r.plan.Connections/r.threads, r.addrs)
	}
	g, free, err := h3.Open(*r.protocols.http3, r.plan.protoRequests(), proto.Want{}, r.addrs)
	return ring.Opened{Ring: g, Kind: HTTP3Ring, Free: free}, err
}

// A quicBytes is what QUIC had received and sent, in bytes, which pass the worker by.
type quicBytes struct{ received, sent int64 }

// quicBytesOf is that of a ring of HTTP/3; not ok of another.
func quicBytesOf(g ring.Ring) (now quicBytes, ok bool) {
	q, ok := g.(*h3.Ring)
	if ok {
		now.received, now.sent = q.Traffic()
	}
	return now, ok
}

// countQUICBytes gives an interval the bytes of QUIC, for what the worker saw of HTTP/3 are only
// its ring's records.
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

// http3Unanswered is what to know where nobody answers to HTTP/3, which few servers speak.
func (r *run) http3Unanswered() string {
	res := r.result
	if r.protocols.http3 == nil || res.Ended != Unreachable || len(res.Failures) == 0 ||
		res.Failures[0].Phase != Connect {
		return ""
	}
	return "HTTP/3 is over UDP, and nobody answered there: the server may not speak it, or a " +
		"firewall drops it; --http 2 and 1.1 are over TCP"
}

// shareOfCPUs is how much of what its CPUs could do the process did in the window, in which
// the library's goroutines ran beside the workers.
func (r *run) shareOfCPUs() float64 {
	if r.result.Ring != HTTP3Ring || r.result.Measured <= 0 {
		return 0
	}
	return float64(r.result.CPU) / float64(r.result.Measured) / float64(runtime.NumCPU())
}
