package serve

import (
	"net/http"
	"strings"
	"testing"
)

// Whoever follows a link from another site comes without the cookie: a page is opened again by
// itself, once, and nothing else is.
func TestLand(t *testing.T) {
	g := begin(t, Config{})
	link := []string{"Cookie: ", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}
	with := func(headers ...string) []string { return append(append([]string{}, link...), headers...) }
	for _, c := range []struct {
		what, method, path string
		headers            []string
		want               int
	}{
		{"a link to a page", "GET", "/live", link, 200},
		{"with a query", "GET", "/lab?id=a%22%3E%3Cscript%3E", link, 200},
		{"to a report", "GET", "/results/20260102-150405-0000", link, 200},
		{"to an experiment's report", "GET", "/labs/x/report", link, 200},
		{"that was opened again already", "GET", "/live?landed=", link, 401},
		{"to what hands out data", "GET", "/api/results", link, 401},
		{"to a script", "GET", "/assets/page.js", link, 401},
		{"to another host", "GET", "//evil.example/", link, 401},
		{"in a frame", "GET", "/live", with("Sec-Fetch-Dest: iframe"), 401},
		{"an image", "GET", "/live", with("Sec-Fetch-Mode: no-cors"), 403},
		{"a posted form", "POST", "/live", with("Origin: http://evil.example"), 403},
		{"typed by somebody who was not let in", "GET", "/live", with("Sec-Fetch-Site: none"), 401},
		{"opened again by one who was not let in", "GET", "/live?landed=", with("Sec-Fetch-Site: same-origin"), 401},
	} {
		r := g.ask(t, c.method, c.path, "", c.headers...)
		body := text(t, r)
		if r.StatusCode != c.want {
			t.Errorf("%s: %d, want %d: %s", c.what, r.StatusCode, c.want, body)
		}
		if c.want != 200 {
			continue
		}
		csp := r.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'; script-src 'sha256-") || strings.Contains(csp, "unsafe") ||
			!strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", c.what, csp)
		}
		if strings.Count(body, "<script") != 1 || strings.Contains(body, "id=a") || len(r.Cookies()) > 0 {
			t.Errorf("%s: more than the address is opened again: %s", c.what, body)
		}
	}
	for path, want := range map[string]string{"/live?landed=": "/live", "/lab?id=a%26b&landed=": "/lab?id=a%26b",
		"/labs/a%2Fb/report?landed=": "/labs/a%2Fb/report", "//evil.example/?landed=": "/", "/api/results?landed=": "/"} {
		r := g.ask(t, "GET", path, "")
		if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != want {
			t.Errorf("%s: %d to %q, want %q", path, r.StatusCode, r.Header.Get("Location"), want)
		}
	}
}
