package transport

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"dyno/internal/engine/loadplan"
)

// RoundTripper asks by net/http on a way's connections, one for each request: in HTTP/1.1, or in
// HTTP/2 where the URL is h2c. It neither follows redirects nor decodes.
func RoundTripper(w loadplan.Way) http.RoundTripper {
	open := func(ctx context.Context, _, _ string) (net.Conn, error) {
		d, err := NewDialer(w)
		if err != nil {
			return nil, err
		}
		return d.Open(ctx)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!w.Target.H2C)
	protocols.SetUnencryptedHTTP2(w.Target.H2C)
	t := &http.Transport{Protocols: protocols, DisableKeepAlives: true, DisableCompression: true,
		DialContext: open, DialTLSContext: open}
	if w.ProxiedOrigin() != "" { // it writes absolute URLs then, and Proxy-Authorization
		t.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(w.Proxy) }
	}
	return t
}
