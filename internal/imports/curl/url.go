package curl

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// A target is a URL as curl reads it.
type target struct {
	origin string // http://host:port, or "" if the socket is named
	path   string // with the query
	login  string // user:password
	host   string // for the header Host, where the origin does not say it
}

// parseURL reads a URL of the command: without a scheme it is http.
func (c *command) parseURL(text string) (t target, err error) {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return t, fmt.Errorf("the URL %.80q has a space or a control character, which curl refuses", text)
	}
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = guessScheme(text), text
	}
	switch scheme = strings.ToLower(scheme); {
	case scheme != "http" && scheme != "https":
		return t, unsupported{"the scheme", scheme}
	case scheme == "http" && slices.Contains(c.run, setting{"--http", upgraded}):
		return t, unsupported{"--http2", "without TLS"} // curl asks for an upgrade
	case scheme == "https" && c.unix != "":
		return t, unsupported{"--unix-socket", "with TLS"}
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, p := rest[:end], rest[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if t.login, err = url.PathUnescape(authority[:at]); err != nil {
			return t, fmt.Errorf("the URL %.80q has a %% that is not %%XX", text)
		}
		if authority = authority[at+1:]; !strings.Contains(t.login, ":") {
			t.login += ":"
		}
	}
	if !c.globOff && (strings.ContainsAny(p, "{}[]") || strings.ContainsAny(authority, "{}")) {
		return t, unsupported{"a URL with {} or [], which curl takes for a list;", "with -g it is none"}
	}
	if authority == "" {
		return t, fmt.Errorf("the URL %.80q names no host", text)
	}
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	if t.path = escapeBytes(p); !c.pathAsIs {
		t.path = withoutDots(t.path)
	}
	t.origin = scheme + "://" + authority
	if c.unix != "" {
		t.origin, t.host = "", withoutUsualPort(scheme, authority)
	}
	return t, c.checkResolved(scheme, authority)
}

// guessScheme is the scheme of a URL that has none: curl guesses it by the host's name.
func guessScheme(text string) string {
	for _, scheme := range []string{"ftp", "dict", "ldap", "imap", "smtp", "pop3"} {
		if n := len(scheme); len(text) > n && strings.EqualFold(text[:n+1], scheme+".") {
			return scheme
		}
	}
	return "http"
}

// escapeBytes writes the bytes of a path that are not ASCII as curl does.
func escapeBytes(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] >= 0x80 {
			fmt.Fprintf(&b, "%%%02x", s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// withoutUsualPort is an authority as the header Host has it.
func withoutUsualPort(scheme, authority string) string {
	usual := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return strings.TrimSuffix(authority, usual)
}

// withoutDots removes /./ and /../ from a path, as RFC 3986 says in 5.2.4.
func withoutDots(p string) string {
	p, query, has := strings.Cut(p, "?")
	var kept []string
	parts := strings.Split(p, "/")[1:]
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case part == "." && last:
			kept = append(kept, "")
		case part == ".":
		case part == "..":
			kept = kept[:max(len(kept)-1, 0)]
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, part)
		}
	}
	p = "/" + strings.Join(kept, "/")
	if has {
		p += "?" + query
	}
	return p
}

// setResolve reads HOST:PORT:ADDRESS. A run connects to one address.
func (c *command) setResolve(s string) error {
	parts := strings.SplitN(strings.TrimPrefix(s, "+"), ":", 3)
	if len(parts) != 3 || strings.HasPrefix(s, "-") || parts[0] == "*" {
		return errors.New("that is not HOST:PORT:ADDRESS")
	}
	address := strings.Trim(parts[2], "[]")
	if net.ParseIP(address) == nil {
		return errors.New("with several addresses")
	}
	if len(c.resolves) > 0 {
		return errors.New("more than once")
	}
	c.resolves = append(c.resolves, parts[0]+":"+parts[1])
	return run("--connect-to")(c, net.JoinHostPort(address, parts[1]))
}

// setConnectTo reads HOST1:PORT1:HOST2:PORT2.
func (c *command) setConnectTo(s string) error {
	parts := strings.Split(s, ":")
	if len(parts) != 4 || parts[2] == "" || parts[3] == "" || len(c.resolves) > 0 {
		return errors.New("that is not HOST1:PORT1:HOST2:PORT2")
	}
	c.resolves = append(c.resolves, parts[0]+":"+parts[1])
	return run("--connect-to")(c, parts[2]+":"+parts[3])
}

// checkResolved reports an address that --resolve gives to another host than the URL's.
func (c *command) checkResolved(scheme, authority string) error {
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		host, port = authority, map[string]string{"http": "80", "https": "443"}[scheme]
	}
	for _, r := range c.resolves {
		h, p, _ := strings.Cut(r, ":")
		if h != "" && !strings.EqualFold(h, host) || p != "" && p != port {
			return unsupported{"--resolve or --connect-to", "of a host that the URL does not name"}
		}
	}
	return nil
}
