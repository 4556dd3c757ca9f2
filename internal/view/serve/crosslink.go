package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Whoever follows a link from another site to the dashboard comes without the cookie: that is
// what SameSite=Strict is for. So the first answer to a navigation from elsewhere is a page
// that has nothing in it and opens the address again by itself; the browser then is on our own
// site, and shows the cookie. No more is let in than SameSite=Lax would: pages, opened on the
// whole of a tab by GET; what they are embedded in, posted or fetched by stays outside.

// landed is the parameter that distinguishes the address from the one before: so it is opened
// again once and no more.
const landed = "landed"

// redirectScript opens the page's own address again; what is behind the # goes with it.
const redirectScript = `const here = new URL(location.href);
here.searchParams.set("` + landed + `", "");
location.replace(here.href);`

// arrivesByLink reports whether a request is a link's from another site to a page of ours.
func arrivesByLink(r *http.Request) bool {
	h := r.Header
	return r.Method == http.MethodGet && isPagePath(r.URL.Path) && !r.URL.Query().Has(landed) &&
		h.Get("Sec-Fetch-Site") == "cross-site" && h.Get("Sec-Fetch-Mode") == "navigate" &&
		h.Get("Sec-Fetch-Dest") == "document"
}

// isPagePath reports whether a path is that of a page. None of them begins with two slashes, which
// would be another host's.
func isPagePath(path string) bool {
	return pageKinds[path] != "" || strings.HasPrefix(path, "/results/") ||
		strings.HasPrefix(path, "/labs/")
}

// answerRedirectPage answers with the page that has nothing in it.
func answerRedirectPage(w http.ResponseWriter) {
	sum := sha256.Sum256([]byte(redirectScript))
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'sha256-"+
		base64.StdEncoding.EncodeToString(sum[:])+"'; img-src data:; base-uri 'none'; "+
		"form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>dyno</title>
<script>%s</script>
<p>Opening the dashboard, which needs JavaScript …</p>
</html>
`, redirectScript)
}

// withoutParameter is an address of ours without a parameter.
func withoutParameter(u *url.URL, parameter string) string {
	query := u.Query()
	query.Del(parameter)
	path := "/"
	if isPagePath(u.Path) {
		path = u.EscapedPath()
	}
	if rest := query.Encode(); rest != "" {
		path += "?" + rest
	}
	return path
}
