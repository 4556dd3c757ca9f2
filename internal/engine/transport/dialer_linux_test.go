package transport

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
)

// A connection outside of a load comes from where those of the load do.
func TestDialerSource(t *testing.T) {
	from := ""
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { from = r.RemoteAddr }))
	defer s.Close()
	at := netip.MustParseAddrPort(s.Listener.Addr().String())
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: s.URL, Host: at.Addr().String(), Port: at.Port()}
	source, err := loadplan.ParseSource("127.0.0.2/32")
	if err != nil {
		t.Fatal(err)
	}
	p.Source = []loadplan.Source{source}
	answer, err := (&http.Client{Transport: RoundTripper(p.Way())}).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if host, _, _ := net.SplitHostPort(from); host != "127.0.0.2" {
		t.Errorf("asked from %s", from)
	}
	source.Range = netip.MustParsePrefix("192.0.2.1/32")
	p.Source = []loadplan.Source{source}
	if _, err := (&http.Client{Transport: RoundTripper(p.Way())}).Get(s.URL); err == nil || !strings.Contains(err.Error(), "is no address of this machine") {
		t.Errorf("asked from an address of nobody: %v", err)
	}
}
