package loadplan

import "testing"

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
