package load

import (
	"crypto/tls"
	"runtime"
	"time"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
)

// HTTP3Ring is the kind of ring that does HTTP/3: the library's name.
const HTTP3Ring = "quic-go"

// OnlyHTTP3 reports whether connections use HTTP/3, which must be asked for by name.
func (p *Plan) OnlyHTTP3() bool { return p.HTTP == "3" }

// checkHTTP3 checks for what HTTP/3 cannot do, or dyno cannot do with it.
func (p *Plan) checkHTTP3(flaw func(bool, string, string, ...any)) {
	t := p.Target
	if !p.OnlyHTTP3() || t.FastCGI { // FastCGI with --http is a flaw of its own
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

// setHTTP3 has the plan's connections use HTTP/3.
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

// openRing opens the ring of one worker.
func (r *run) openRing() (ring.Opened, error) {
	if r.protocols.http3 == nil {
		return ring.Open(r.plan.Ring, r.plan.Connections/r.threads, r.addrs)
	}
	g, free, err := h3.Open(*r.protocols.http3, r.plan.protoRequests(), r.plan.want(), r.addrs)
	return ring.Opened{Ring: g, Kind: HTTP3Ring, Free: free}, err
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
	if r.protocols.http3 == nil || res.Ended != Unreachable || len(res.Failures) == 0 ||
		res.Failures[0].Phase != Connect {
		return ""
	}
	return "HTTP/3 is over UDP, and nobody answered there: the server may not speak it, or a " +
		"firewall drops it; --http 2 and 1.1 are over TCP"
}

// shareOfCPUs is how much of its CPUs' time the process used in the window. It includes the
// library's goroutines, which run in addition to the workers.
func (r *run) shareOfCPUs() float64 {
	if r.result.Ring != HTTP3Ring || r.result.Measured <= 0 {
		return 0
	}
	return float64(r.result.CPU) / float64(r.result.Measured) / float64(runtime.NumCPU())
}
