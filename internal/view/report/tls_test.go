package report

import (
	"bytes"
	"testing"

	"dyno/internal/result"
)

// negotiated is a run of several kinds of TLS.
func negotiated() *result.Result {
	r := unix()
	r.Rate.Handshakes = set(22_941.0)
	c := &r.Connections
	c.TLSFull, c.TLSResumed = set(int64(5)), set(int64(1995))
	c.TLS = []result.Terms{
		{Version: "1.3", Cipher: "TLS_AES_128_GCM_SHA256", Group: "X25519MLKEM768", Count: 1990},
		{Version: "1.2", Cipher: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\x1b[2J", Count: 4},
		{Version: "1.1", Cipher: "c", Count: 3}, {Version: "1.0", Cipher: "b", Count: 2},
		{Version: "1.0", Cipher: "a", Count: 1},
	}
	r.Phases.TLS, r.Phases.TLSFull, r.Phases.TLSResumed = spread(2000, 500), spread(5, 1500), spread(1995, 480)
	return r
}

// Of TLS the report says what was settled, how often, and how long full handshakes and
// resumed ones took.
func TestTLSReport(t *testing.T) {
	r := negotiated()
	var b bytes.Buffer
	if err := Text(&b, r, Style{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "tls.text", layoutOf(b.Bytes(), phrasesOf(RunSentences(r))))
}
