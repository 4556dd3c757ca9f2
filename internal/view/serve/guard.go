package serve

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
)

// What a request has to pass, in this order, each with the attack it ends:
//
//	421  Host is not ours: DNS rebinding, a foreign name that points to 127.0.0.1
//	403  it comes from another origin's page: cross-site forgery, and looking in through
//	     images, scripts or frames, from other ports of this machine too
//	401  no token: another user of this machine, or a program that looks around
//
// The token is new with each start of the dashboard. It is in the URL once, and gets the
// browser a cookie that scripts cannot read and other sites cannot send. The cookie outlives
// the dashboard, so that a page goes on when it is started again; see logins.go. Cookies
// know no ports: whoever visits another server of the same name in the same browser shows it
// the cookie; its own port is in the cookie's name, so that two dashboards do not mix them up.

// keys are what lets a browser in.
type keys struct {
	token  string // in the URL, as long as the dashboard
	cookie string

	mu     sync.Mutex
	single []string // tokens, each until it is used
}

func newKeys(cookie string) keys { return keys{token: rand.Text(), cookie: cookie} }

// mostSingle is how many keys may wait for their use.
const mostSingle = 8

// onceToken returns a token that lets one browser in, once.
func (k *keys) onceToken() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := rand.Text()
	k.single = append(k.single, key)
	if len(k.single) > mostSingle {
		k.single = k.single[1:]
	}
	return key
}

// acceptsToken reports whether the token of a URL lets a browser in, and uses up one for once.
func (k *keys) acceptsToken(key string) bool {
	if sameSecret(key, k.token) {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.single, func(one string) bool { return sameSecret(one, key) })
	if i >= 0 {
		k.single = slices.Delete(k.single, i, i+1)
	}
	return i >= 0
}

// sameSecret reports whether a and b are equal, in a time that does not depend on it.
func sameSecret(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// hostNamesOf are the names that a browser may have for an address of this machine.
func hostNamesOf(at netip.AddrPort) map[string]bool {
	names := []string{at.Addr().Unmap().String()}
	if at.Addr().IsLoopback() {
		names = append(names, "localhost")
	}
	port, all := strconv.Itoa(int(at.Port())), map[string]bool{}
	for _, name := range names {
		all[net.JoinHostPort(name, port)] = true
		if at.Port() == 80 {
			all[name] = true
		}
	}
	return all
}

// policyOfContent lets the page have nothing but what this server sends. Plot's styles are
// attributes and properties; there is no script in the page's text but data.
const policyOfContent = "default-src 'none'; script-src 'self'; style-src 'self'; " +
	"img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// ServeHTTP answers a request that passes the guard.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policyOfContent)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !s.hosts[r.Host]:
		answerError(w, http.StatusMisdirectedRequest,
			fmt.Sprintf("%q is not a name of this dashboard; open %s", r.Host, s.Base()))
	case isForeign(r):
		answerError(w, http.StatusForbidden, "a page of another origin asked for this")
	case r.URL.Query().Has("token"):
		s.admitByToken(w, r)
	case !s.hasCookie(r) && arrivesByLink(r):
		answerRedirectPage(w)
	case !s.hasCookie(r):
		answerError(w, http.StatusUnauthorized, "this browser has not been let in, or the dashboard was "+
			"started again and does not know it; open the address that dyno serve printed, with its "+
			"token")
	case r.URL.Query().Has(landed):
		http.Redirect(w, r, withoutParameter(r.URL, landed), http.StatusSeeOther)
	default:
		r.Body = http.MaxBytesReader(w, r.Body, bodyBytes)
		s.mux.ServeHTTP(w, r)
	}
}

// isForeign reports whether a page of another origin is behind a request, as far as the
// browser says so. To follow a link to the dashboard is no harm: Check lets safe methods
// pass, and what is asked for by anything but a navigation is refused here.
func isForeign(r *http.Request) bool {
	if http.NewCrossOriginProtection().Check(r) != nil {
		return true
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return true // of a safe method too, of browsers that say nothing else
	}
	site, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
	return (site == "cross-site" || site == "same-site") && mode != "navigate"
}

// admitByToken takes the token from the URL into a cookie, and leads to the URL without it.
func (s *Server) admitByToken(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !s.keys.acceptsToken(r.URL.Query().Get("token")) {
		answerError(w, http.StatusUnauthorized, "the token is not this dashboard's: it has a new one "+
			"each time it starts; open the address that dyno printed last")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookieName(), Value: s.keys.cookie, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, withoutParameter(r.URL, "token"), http.StatusSeeOther)
}

func (s *Server) cookieName() string {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return "dyno-" + port
}

func (s *Server) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(s.cookieName())
	return err == nil && sameSecret(c.Value, s.keys.cookie)
}

// answerError answers with a reason that a person can read.
func answerError(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, why)
}
