package report

import (
	"bytes"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/reporttest"
)

// negotiated is a run of several kinds of TLS.
func negotiated() *result.Result {
	r := unix()
	r.Rate.Handshakes = new(22_941.0)
	c := &r.Connections
	c.TLSFull, c.TLSResumed = new(int64(5)), new(int64(1995))
	c.TLS = []result.Terms{
		{Version: "1.3", Cipher: "TLS_AES_128_GCM_SHA256", Group: "X25519MLKEM768", Count: 1990},
		{Version: "1.2", Cipher: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\x1b[2J", Count: 4},
		{Version: "1.1", Cipher: "c", Count: 3}, {Version: "1.0", Cipher: "b", Count: 2},
		{Version: "1.0", Cipher: "a", Count: 1},
	}
	r.Phases.TLS, r.Phases.TLSFull, r.Phases.TLSResumed = reporttest.Spread(2000, 500), reporttest.Spread(5, 1500), reporttest.Spread(1995, 480)
	return r
}

// Of TLS the report says what was settled, how often, and how long full handshakes and
// resumed ones took.
func TestTLSReport(t *testing.T) {
	r := negotiated()
	var b bytes.Buffer
	if err := full(&b, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "tls.text", reporttest.LayoutOf(b.Bytes(), phrasesOf(RunSentences(r))))
}
