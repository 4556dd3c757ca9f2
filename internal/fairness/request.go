package fairness

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A place is where a Question goes.
type place struct {
	network, address string
	secure           bool
	protocol         string // that the URL names: HTTP2, FastCGI or ""
	host             string // whose certificate is asked for
	authority        string
	path             string
	basic            string // value of Authorization
	shown            string // the URL without credentials
}

func parseURL(s string) (place, error) {
	scheme, rest, found := strings.Cut(s, "://")
	rest, _, _ = strings.Cut(rest, "#")
	switch {
	case found && strings.EqualFold(scheme, "http"):
		return parseTCP("http", rest, "80")
	case found && strings.EqualFold(scheme, "https"):
		return parseTCP("https", rest, "443")
	case found && strings.EqualFold(scheme, "h2c"):
		return withProtocol(HTTP2)(parseTCP("h2c", rest, "80"))
	case found && strings.EqualFold(scheme, "fcgi"):
		return withProtocol(FastCGI)(parseTCP("fcgi", rest, ""))
	case found && strings.EqualFold(scheme, "http+unix"):
		return parseUnix("http+unix", rest)
	case found && strings.EqualFold(scheme, "fcgi+unix"):
		return withProtocol(FastCGI)(parseUnix("fcgi+unix", rest))
	}
	return place{}, errors.New("it does not begin with http://, https://, h2c://, fcgi://, " +
		"http+unix:// or fcgi+unix://")
}

// withProtocol adds the protocol that a URL names.
func withProtocol(name string) func(place, error) (place, error) {
	return func(p place, err error) (place, error) {
		p.protocol = name
		return p, err
	}
}

func parseTCP(scheme, rest, usual string) (place, error) {
	authority, uri := rest, "/"
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, uri = rest[:i], "/"+strings.TrimPrefix(rest[i:], "/")
	}
	p := place{network: "tcp", secure: scheme == "https", path: uri}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, err := url.PathUnescape(authority[:at])
		if err != nil {
			return place{}, errors.New("its user name or password has a % that is not %XX")
		}
		if !strings.Contains(authority[:at], ":") {
			user += ":"
		}
		p.basic = "Basic " + base64.StdEncoding.EncodeToString([]byte(user))
		authority = authority[at+1:]
	}
	u, err := url.Parse("//" + authority)
	if err != nil || u.Hostname() == "" {
		return place{}, fmt.Errorf("%q is not HOST, HOST:PORT or [ADDRESS]:PORT", authority)
	}
	p.host, p.authority = u.Hostname(), authority
	if usual != "" {
		p.authority = strings.TrimSuffix(authority, ":"+usual)
	}
	port := cmp.Or(u.Port(), usual)
	if port == "" {
		return place{}, fmt.Errorf("%s has no port of its own; write %s://%s:9000", scheme, scheme,
			authority)
	}
	p.address = net.JoinHostPort(p.host, port)
	p.shown = scheme + "://" + authority + uri
	return p, nil
}

func parseUnix(scheme, rest string) (place, error) {
	socket, uri, _ := strings.Cut(rest, ":/")
	socket = strings.TrimSuffix(socket, ":")
	if !strings.HasPrefix(socket, "/") {
		return place{}, fmt.Errorf("write the socket's whole path: %s:///path/to.sock:/uri", scheme)
	}
	return place{network: "unix", address: socket, host: "localhost", authority: "localhost",
		path: "/" + uri, shown: scheme + "://" + rest}, nil
}

// checkRequest reports what would be no request, or more than one.
func (q *Question) checkRequest() error {
	var all []error
	if strings.ContainsFunc(q.Method, isBlank) {
		all = append(all, fmt.Errorf("method %q has a space or a control character", q.Method))
	}
	if !strings.HasPrefix(q.Path, "/") && q.Path != "*" || strings.ContainsFunc(q.Path, isBlank) {
		all = append(all, fmt.Errorf("path %q does not begin with / or has a space", q.Path))
	}
	for _, f := range append([]Field{{"User-Agent", q.UserAgent}}, q.Header...) {
		if f.Name == "" || strings.ContainsFunc(f.Name, isBlank) ||
			strings.ContainsAny(f.Value, "\r\n\x00") {
			all = append(all, fmt.Errorf("header %q: %q cannot be sent", f.Name, f.Value))
		}
	}
	return errors.Join(all...)
}

func isBlank(r rune) bool { return r <= ' ' || r == 0x7f }

// encodeRequest is q as it goes on the wire. It is the order of the load's codec:
// Host, User-Agent, the user's own, Content-Length, Connection.
func (q *Question) encodeRequest(authority string) []byte {
	version := "HTTP/1.1"
	if q.HTTP10 {
		version = "HTTP/1.0"
	}
	b := fmt.Appendf(nil, "%s %s %s\r\n", q.Method, q.Path, version)
	field := func(name, value string) {
		b = append(append(b, name...), ':')
		if value != "" {
			b = append(append(b, ' '), value...)
		}
		b = append(b, "\r\n"...)
	}
	if !q.hasHeader("Host") {
		field("Host", authority)
	}
	if q.UserAgent != "" && !q.hasHeader("User-Agent") {
		field("User-Agent", q.UserAgent)
	}
	says := q.Close && !q.HTTP10 // HTTP/1.0 closes unless asked to keep
	drop := says || q.Close && q.connectionHas("keep-alive")
	for _, f := range q.Header {
		if !drop || !strings.EqualFold(f.Name, "Connection") {
			field(f.Name, f.Value)
		}
	}
	if q.hasLength() {
		field("Content-Length", strconv.Itoa(len(q.Body)))
	}
	if says {
		field("Connection", "close")
	}
	return append(append(b, "\r\n"...), q.Body...)
}

func (q *Question) hasLength() bool {
	if q.hasHeader("Content-Length") || q.hasHeader("Transfer-Encoding") {
		return false
	}
	switch q.Method {
	case "POST", "PUT", "PATCH":
		return true
	}
	return len(q.Body) > 0
}

func (q *Question) hasHeader(name string) bool {
	for _, f := range q.Header {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}

// endsConnection reports whether the request itself is its connection's last.
func (q *Question) endsConnection() bool {
	return q.Close || q.connectionHas("close") || q.HTTP10 && !q.connectionHas("keep-alive")
}

// connectionHas reports whether the user's Connection has item.
func (q *Question) connectionHas(item string) bool {
	return slices.ContainsFunc(q.Header, func(f Field) bool {
		return strings.EqualFold(f.Name, "Connection") && listHas(f.Value, item)
	})
}

// withHeader is q with one header field of that value.
func (q Question) withHeader(name, value string) Question {
	var header []Field
	for _, f := range q.Header {
		if !strings.EqualFold(f.Name, name) {
			header = append(header, f)
		}
	}
	q.Header = append(header, Field{name, value})
	return q
}

// listHas reports whether value, a list with commas, has item in any case.
func listHas(value, item string) bool {
	for s := range strings.SplitSeq(value, ",") {
		if strings.EqualFold(strings.Trim(s, " \t"), item) {
			return true
		}
	}
	return false
}
