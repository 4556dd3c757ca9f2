package result

import (
	"reflect"
	"testing"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto/tls"
)

// tlsRun is closedRun with connections of which each carries ten exchanges, over TLS.
func tlsRun() *loadresult.Result {
	r := closedRun()
	r.Plan.Reconnect, r.TLSFull, r.TLSResumed, r.Handshakes = 10, 3, 97, 98
	r.FullTLS = histogram(metric.Coarse, time.Millisecond, 2*time.Millisecond, 3*time.Millisecond)
	r.ResumedTLS = histogram(metric.Coarse, 500*time.Microsecond)
	r.Terms = map[tls.Terms]int64{
		{Version: "1.2", Cipher: "B"}: 1, {Version: "1.3", Cipher: "A", Group: "x25519"}: 98,
		{Version: "1.2", Cipher: "A"}: 1,
	}
	return r
}

// Handshakes are told apart, together they are the phase, their rate is that of the
// window, and what they settled is listed.
func TestFromTLS(t *testing.T) {
	r := from(t, tlsRun())
	p := r.Phases
	if p.TLS.Count != 4 || p.TLSFull.Count != 3 || p.TLSResumed.Count != 1 {
		t.Errorf("%d handshakes, %d full, %d resumed", p.TLS.Count, p.TLSFull.Count, p.TLSResumed.Count)
	}
	if p.TLS.Min != p.TLSResumed.Min || p.TLS.Max != p.TLSFull.Max {
		t.Errorf("%v to %v µs, full %v, resumed %v", p.TLS.Min, p.TLS.Max, p.TLSFull, p.TLSResumed)
	}
	if rate := r.Rate.Handshakes; rate == nil || *rate != 49 { // 98 in 2 s
		t.Errorf("handshakes a second: %v", rate)
	}
	want := []Terms{{"1.3", "A", "x25519", 98}, {"1.2", "A", "", 1}, {"1.2", "B", "", 1}}
	if got := r.Connections.TLS; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	plain := tlsRun()
	plain.Plan.Reconnect = 0
	if rate := from(t, plain).Rate.Handshakes; rate != nil {
		t.Errorf("connections that stay have %v handshakes a second", *rate)
	}
}

// Of several generators all of it adds up.
func TestTLSTogether(t *testing.T) {
	one, other := tlsRun(), tlsRun()
	other.Terms = map[tls.Terms]int64{{Version: "1.2", Cipher: "B"}: 99}
	one.Plan.Parts, other.Plan.Parts, other.Plan.Part = 2, 2, 1
	m := together(t, one, other)
	if p := m.Phases; p.TLS.Count != 8 || p.TLSFull.Count != 6 || p.TLSResumed.Count != 2 {
		t.Errorf("%d handshakes, %d full, %d resumed", p.TLS.Count, p.TLSFull.Count, p.TLSResumed.Count)
	}
	if rate := m.Rate.Handshakes; rate == nil || *rate != 98 {
		t.Errorf("handshakes a second: %v", rate)
	}
	want := []Terms{{"1.2", "B", "", 100}, {"1.3", "A", "x25519", 98}, {"1.2", "A", "", 1}}
	if got := m.Connections.TLS; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
