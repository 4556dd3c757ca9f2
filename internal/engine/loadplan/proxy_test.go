package loadplan

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

// What a proxy's URL says, and what is no proxy; no error repeats its password.
func TestProxyURL(t *testing.T) {
	for url, want := range map[string]proxyURL{
		"http://a:3128":                   {"a", 3128, ""},
		"http://[::1]:80/":                {"::1", 80, ""},
		"http://u:p%20w%25@10.0.0.1:8080": {"10.0.0.1", 8080, "Basic dTpwIHcl"},
		"http://token@a:1":                {"a", 1, "Basic dG9rZW46"},
	} {
		if got, err := parseProxy(url); err != nil || got != want {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
	}
	for url, want := range map[string]string{
		"http://u:sekret@a": "http://a:3128", "https://u:sekret@a:1": "a proxy of https://", "socks5://u:sekret@a:1": "socks5://",
		"a:3128": "write http://HOST:PORT", "u:sekret@a:1": "write http://HOST:PORT", "http://u:sekret@a:1/x": "ends with the port",
		"http://u:sekret@a:70000": "from 1 to 65535", "http://u:sekret%zz@a:1": "no URL", "http://u:sekret@a:0": "from 1 to 65535",
	} {
		if _, err := parseProxy(url); err == nil || strings.Contains(err.Error(), "sekret") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

// What a proxy reads, what passes through it unseen, and what does not pass.
func TestProxied(t *testing.T) {
	for _, c := range []struct {
		target          Target
		http            string
		origin          string // of the requests that the proxy reads
		tunnels, cannot bool
	}{
		{Target{URL: "http://a/x", Host: "a", Port: 80}, Auto, "http://a", false, false},
		{Target{URL: "http://[fd00::1]:81/x", Host: "fd00::1", Port: 81}, "1.0", "http://[fd00::1]:81", false, false},
		{Target{URL: "http://a/x", Host: "b", Port: 81}, Auto, "", true, false}, // --connect-to
		{Target{URL: "http://a/x", Host: "a", Port: 80}, "2", "", true, false},
		{Target{URL: "h2c://a/x", Host: "a", Port: 80, H2C: true}, Auto, "", true, false},
		{Target{URL: "https://a/x", Host: "a", Port: 443, TLS: true}, Auto, "", true, false},
		{Target{URL: "https://a/x", Host: "a", Port: 443, TLS: true}, "3", "", true, true},
		{Target{URL: "fcgi://a:9/x", Host: "a", Port: 9, FastCGI: true}, Auto, "http://a:9", false, true},
		{Target{URL: "http+unix:///s:/", Unix: "/s"}, Auto, "http://:0", false, true},
	} {
		p := DefaultPlan()
		p.Target, p.HTTP, p.Proxy = c.target, c.http, "http://u:p@proxy:3128"
		p.Requests = []Request{{Weight: 1, Request: proto.Request{Method: "GET", Authority: "a", Path: "/x"}}}
		cannot := slices.ContainsFunc(p.Flaws(), func(f Flaw) bool { return f.Setting == "Proxy" })
		if p.Tunnels() != c.tunnels || p.ProxiedOrigin() != c.origin || cannot != c.cannot {
			t.Errorf("%s over %s: tunnels %v, origin %q, cannot %v: %v", c.target.URL, c.http, p.Tunnels(), p.ProxiedOrigin(), cannot, p.Flaws())
		}
		reached := p.Reached()
		if want := (Reached{c.target.Host, c.target.Port, true}); reached[0] != want || reached[1] != (Reached{"proxy", 3128, false}) {
			t.Errorf("%s reaches %v", c.target.URL, reached)
		}
		p.Proxy = ""
		if host, port := p.Dialed(); p.Tunnels() || p.ProxiedOrigin() != "" || len(p.Reached()) != 1 || host != c.target.Host || port != c.target.Port {
			t.Errorf("%s without a proxy: %s, %d", c.target.URL, host, port)
		}
	}
	p := DefaultPlan()
	p.Proxy, p.ProxyProtocol, p.Target = "http://proxy:3128", "v1", Target{URL: "http://a/", Host: "a", Port: 80}
	if flaws := p.Flaws(); !slices.ContainsFunc(flaws, func(f Flaw) bool { return f.Setting == "ProxyProtocol" }) {
		t.Error(flaws)
	}
}

func TestProxyVariable(t *testing.T) {
	web := Target{Host: "api.example.org", Port: 80}
	safe := Target{Host: "api.example.org", Port: 443, TLS: true}
	four, six := Target{Host: "10.1.2.3", Port: 8080}, Target{Host: "fd00::1", Port: 80}
	const p = "http://proxy:3128"
	for _, c := range []struct {
		target Target
		env    map[string]string
		want   string
	}{
		{web, nil, ""},
		{web, map[string]string{"HTTP_PROXY": p}, "HTTP_PROXY"},
		{web, map[string]string{"HTTP_PROXY": p, "http_proxy": p}, "http_proxy"},
		{web, map[string]string{"HTTPS_PROXY": p}, ""},
		{safe, map[string]string{"HTTPS_PROXY": p, "HTTP_PROXY": p}, "HTTPS_PROXY"},
		{safe, map[string]string{"ALL_PROXY": p}, "ALL_PROXY"},
		{web, map[string]string{"HTTP_PROXY": p, "NO_PROXY": "other.org, example.org"}, ""},
		{web, map[string]string{"HTTP_PROXY": p, "NO_PROXY": "ample.org"}, "HTTP_PROXY"},
		{web, map[string]string{"HTTP_PROXY": p, "no_proxy": ".example.org:80"}, ""},
		{web, map[string]string{"HTTP_PROXY": p, "no_proxy": "example.org:81"}, "HTTP_PROXY"},
		{web, map[string]string{"HTTP_PROXY": p, "no_proxy": "*"}, ""},
		{four, map[string]string{"HTTP_PROXY": p, "no_proxy": "10.0.0.0/8"}, ""},
		{four, map[string]string{"HTTP_PROXY": p, "no_proxy": "192.168.0.0/16"}, "HTTP_PROXY"},
		{six, map[string]string{"HTTP_PROXY": p, "no_proxy": "[fd00::1]:80"}, ""},
		{Target{Unix: "/run/web"}, map[string]string{"HTTP_PROXY": p}, ""},
		{Target{Host: "php", FastCGI: true}, map[string]string{"HTTP_PROXY": p}, ""},
	} {
		if got := c.target.ProxyVariable(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s with %v: %q, want %q", c.target.Host, c.env, got, c.want)
		}
	}
}
