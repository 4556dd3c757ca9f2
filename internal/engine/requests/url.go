// Package requests turns what users write about where to send and what into a
// plan's target and requests: a URL, a file of URLs, a file of bodies, a file
// of whole requests.
//
// Nothing is guessed. A line that could be meant in two ways is a fault that
// says what to write instead, and a file never leads to a host that the run's
// own URL does not name. Files are read once, line by line, within the limits
// of this package, and every fault found is reported with its line. Whoever calls it opens the
// files: cli/files.go, lab/workload/requests.go.
//
//	expect.go     --expect-body and --expect-header, as a requests file has them
//	jsonl.go      files of whole requests: --requests-file
//	lines.go      lines of any of these files, and the limits of a file
//	requests.go   URL files (--urls), bodies (--bodies), headers; pairs them into requests
//	template.go   holes in the texts of requests
//	url.go        the URL of a run: schemes, host, path, user and password
package requests

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/hole"
	"dyno/internal/lazyregexp"

	"golang.org/x/net/idna"
)

// A URL is where to send and what to ask for there.
type URL struct {
	Target    loadplan.Target
	Authority string // what Host says
	Path      string // with the query, as it goes on the wire
	Basic     string // value of Authorization, when the URL has credentials
}

// maxSocketPath is the longest path that every system's socket address holds.
const maxSocketPath = 103

// Parse reads http://, https://, h2c://, fcgi:// and, with +unix, http and fcgi
// of a socket: http+unix:///path/to.sock:/uri. The fragment is dropped, as it
// never leaves a client; credentials become Basic; letters outside ASCII are
// written in the one way HTTP knows for them.
func Parse(s string) (URL, error) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found {
		return URL{}, missingScheme(s)
	}
	rest, _, _ = strings.Cut(rest, "#")
	switch scheme = strings.ToLower(scheme); scheme {
	case "http", "h2c":
		return parseAuthority(scheme, rest, 80)
	case "https":
		return parseAuthority(scheme, rest, 443)
	case "fcgi":
		return parseAuthority(scheme, rest, noPort)
	case "http+unix", "fcgi+unix":
		return parseUnix(scheme, rest)
	}
	return URL{}, fmt.Errorf("scheme %q is not http, https, h2c, fcgi, http+unix or fcgi+unix", scheme)
}

// localPort is a port of this machine as a command line has it: :8080, perhaps with a path.
var localPort = lazyregexp.New(`^:\d+([/?#]|$)`)

// FullURL is a URL as a command line has it, of which :8080 is http://127.0.0.1:8080/.
func FullURL(s string) string {
	switch m := localPort().FindStringSubmatch(s); {
	case m == nil:
		return s
	case m[1] == "":
		s += "/"
	}
	return "http://127.0.0.1" + s
}

// noPort says that a scheme has no port of its own.
const noPort = 0

// loadTarget is what a URL says, but for where to connect.
func loadTarget(scheme, rest string) loadplan.Target {
	return loadplan.Target{URL: scheme + "://" + rest, TLS: scheme == "https", H2C: scheme == "h2c",
		FastCGI: strings.HasPrefix(scheme, "fcgi")}
}

// missingScheme says what to write instead of s, which has no "://".
func missingScheme(s string) error {
	scheme, rest, _ := strings.Cut(s, ":")
	problem := "has no // after its scheme"
	if l := strings.ToLower(scheme); l != "http" && l != "https" {
		scheme, rest, problem = "http", s, "has no scheme"
	}
	rest = strings.TrimSpace(strings.TrimLeft(rest, "/:"))
	switch {
	case rest == "":
		return fmt.Errorf("%q names no host; write one, as in http://localhost:8080/", s)
	case len(rest) > 80:
		return fmt.Errorf("%q %s; it begins with %s://", s, problem, scheme)
	case !strings.ContainsAny(rest, "/?#"):
		rest += "/"
	}
	return fmt.Errorf("%q %s; write %s://%s", s, problem, scheme, rest)
}

func parseAuthority(scheme, rest string, port uint16) (URL, error) {
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, uri := rest[:end], rest[end:]
	var u URL
	var err error
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if u.Basic, err = basicAuth(authority[:at]); err != nil {
			return URL{}, err
		}
		authority = authority[at+1:]
	}
	host, given, err := HostPort(authority)
	if err != nil {
		return URL{}, err
	}
	u.Authority = bracketedHost(host)
	if given == 0 && port == noPort {
		return URL{}, fmt.Errorf("%s has no port of its own; write %s://%s:9000", scheme, scheme,
			authority)
	}
	if given != 0 && given != port {
		u.Authority += ":" + strconv.Itoa(int(given))
		port = given
	}
	if u.Path, err = wirePath(uri); err != nil {
		return URL{}, err
	}
	u.Target = loadTarget(scheme, authority+uri)
	u.Target.Host, u.Target.Port = host, port
	return u, nil
}

func parseUnix(scheme, rest string) (URL, error) {
	if !strings.HasPrefix(rest, "/") {
		return URL{}, fmt.Errorf("a socket is named by its whole path: %s:///path/to.sock:/uri", scheme)
	}
	socket, uri := rest, ""
	if i := strings.Index(rest, ":/"); i >= 0 {
		socket, uri = rest[:i], rest[i+1:]
	}
	socket = strings.TrimSuffix(socket, ":")
	if len(socket) > maxSocketPath {
		return URL{}, fmt.Errorf("the socket's path has %d bytes; at most %d are possible",
			len(socket), maxSocketPath)
	}
	if strings.IndexByte(socket, 0) >= 0 {
		return URL{}, errors.New("the socket's path has a NUL byte")
	}
	path, err := wirePath(uri)
	if err != nil {
		return URL{}, err
	}
	u := URL{Target: loadTarget(scheme, rest), Authority: "localhost", Path: path}
	u.Target.Unix = socket
	return u, nil
}

// BasicAuth is the value of Authorization for USER:PASSWORD.
func BasicAuth(credentials string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
}

// basicAuth is the value of Authorization for user:password as URLs write it.
func basicAuth(userinfo string) (string, error) {
	plain, err := url.PathUnescape(userinfo)
	if err != nil {
		return "", errors.New("its user name or password has a % that is not %XX")
	}
	if !strings.Contains(userinfo, ":") {
		plain += ":"
	}
	return BasicAuth(plain), nil
}

// HostPort reads host, host:port, address:port and [address]:port. The port is
// 0 when s has none. Names outside ASCII come back in their DNS form.
func HostPort(s string) (host string, port uint16, err error) {
	host, digits, hasPort := s, "", false
	switch end := strings.LastIndexByte(s, ']'); {
	case strings.HasPrefix(s, "["):
		if end < 0 {
			return "", 0, fmt.Errorf("%q has no closing bracket", s)
		}
		if host, err = parseIPv6(s[1:end]); err != nil {
			return "", 0, err
		}
		if s = s[end+1:]; s != "" && s[0] != ':' {
			return "", 0, fmt.Errorf("%q follows the address where :PORT should", s)
		}
		_, digits, hasPort = strings.Cut(s, ":")
	case strings.Count(s, ":") > 1:
		return "", 0, fmt.Errorf("the IPv6 address in %q must be in brackets: [::1]:8080", s)
	default:
		host, digits, hasPort = strings.Cut(s, ":")
		if host, err = hostName(host); err != nil {
			return "", 0, err
		}
	}
	if !hasPort || digits == "" {
		return host, 0, nil
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 || digits[0] == '+' {
		return "", 0, fmt.Errorf("port %q is not within 1 to 65535", digits)
	}
	return host, uint16(n), nil
}

func parseIPv6(s string) (string, error) {
	a, err := netip.ParseAddr(strings.Replace(s, "%25", "%", 1))
	if err != nil || !a.Is6() || strings.ContainsAny(a.Zone(), "%[]/ ") {
		return "", fmt.Errorf("%q is not an IPv6 address", s)
	}
	return a.String(), nil
}

func bracketedHost(host string) string {
	if !strings.Contains(host, ":") {
		return host
	}
	host, _, _ = strings.Cut(host, "%") // a zone means something on this machine only
	return "[" + host + "]"
}

func hostName(s string) (string, error) {
	if s == "" {
		return "", errors.New("no host is named; write one, as in http://localhost:8080/")
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return s, nil
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) {
		ascii, err := idna.Lookup.ToASCII(s)
		if err != nil {
			return "", fmt.Errorf("host %q is not a name that DNS can hold", s)
		}
		s = ascii
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.ContainsFunc(l, invalidInName) {
			return "", fmt.Errorf("host %q is not a name or an address", s)
		}
	}
	if len(s) > 254 {
		return "", fmt.Errorf("host name of %d bytes; at most 253 are possible", len(s))
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" {
		return "", fmt.Errorf("%q is not an IPv4 address of four numbers from 0 to 255", s)
	}
	return s, nil
}

func invalidInName(r rune) bool {
	return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// wirePath is a path and query as a request line holds them.
func wirePath(s string) (string, error) {
	if !strings.HasPrefix(s, "/") {
		s = "/" + s // http://host?query
	}
	var b strings.Builder
	for p := range hole.Pieces(s) {
		if p.Kind == hole.Hole {
			b.WriteString(p.Text)
			continue
		}
		for _, c := range []byte(p.Text) {
			switch {
			case c == ' ':
				return "", fmt.Errorf("%q has a space; write %%20", s)
			case c < ' ' || c == 0x7f:
				return "", fmt.Errorf("%q has a control character; write %%%02X", s, c)
			case c >= 0x80:
				fmt.Fprintf(&b, "%%%02X", c)
			default:
				b.WriteByte(c)
			}
		}
	}
	return b.String(), nil
}

// sameOrigin reports whether v leads to where u does.
func (u URL) sameOrigin(v URL) bool {
	a, b := u.Target, v.Target
	return u.scheme() == v.scheme() && a.Port == b.Port && a.Unix == b.Unix &&
		strings.EqualFold(a.Host, b.Host)
}

// origin is what URLs of u's own origin begin with.
func (u URL) origin() string {
	if u.Target.Unix != "" {
		return u.scheme() + "://" + u.Target.Unix + ":"
	}
	return u.scheme() + "://" + u.Authority
}

func (u URL) scheme() string {
	scheme, _, _ := strings.Cut(u.Target.URL, "://")
	return scheme
}
