// Package redirect says where a redirect leads. The Location of a response is a server's: it is
// read within limits, and leads nowhere but to an origin that is the run's own.
package redirect

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"dyno/internal/engine/proto"
)

// MaxLocation is how long a Location may be, in bytes, and how long the path that it leads to: a
// relative one adds to the path before it, and escapes take three bytes for one. Browsers and curl
// take as much at least, and servers refuse longer paths.
const MaxLocation = 8 << 10

// Is reports whether a status is that of a redirect that clients follow by themselves: as in
// browsers, neither 300, which is a choice, nor 304 nor 305.
func Is(status uint16) bool {
	return status >= 301 && status <= 303 || status == 307 || status == 308
}

// Method is the method of the request after a redirect, and whether it has the body of the one
// before it: as browsers do it, a POST becomes a GET after 301 and 302, and all but HEAD after 303.
func Method(status uint16, method string) (next string, keepsBody bool) {
	if status == 303 && method != "HEAD" || (status == 301 || status == 302) && method == "POST" {
		return "GET", false
	}
	return method, true
}

// ofBody are the fields that describe a body, in lower case.
var ofBody = []string{"content-encoding", "content-language", "content-length", "content-location",
	"content-type", "transfer-encoding"}

// DropBody takes the body from a request, and the fields that describe one.
func DropBody(r *proto.Request) {
	r.Body = nil
	r.Header = slices.DeleteFunc(r.Header, func(f proto.Field) bool {
		return slices.Contains(ofBody, strings.ToLower(f.Name))
	})
}

// ofServer are the fields that only the server may be sent for which they were written, in lower
// case: the secrets that curl keeps from other origins, and the server's own name.
var ofServer = []string{"authorization", "cookie", "proxy-authorization", "host"}

// DropServers takes from a request the fields that another origin must not be sent.
func DropServers(r *proto.Request) {
	r.Header = slices.DeleteFunc(r.Header, func(f proto.Field) bool {
		return slices.Contains(ofServer, strings.ToLower(f.Name))
	})
}

// An Origin is a scheme, a host and a port.
type Origin struct {
	Scheme string // http or https
	Host   string // host in lower case, and port unless it is the scheme's
}

// OriginOf is the origin of an authority.
func OriginOf(scheme, authority string) Origin {
	scheme = strings.ToLower(scheme)
	usual := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return Origin{scheme, strings.TrimSuffix(strings.ToLower(authority), usual)}
}

// A Fault is why a redirect is not followed.
type Fault struct {
	Away    bool // it leads to another origin; else its Location is none
	Problem string
}

func (f *Fault) Error() string { return f.Problem }

// Path is the path, with the query, that a Location leads to from a path of at, and which of the
// origins it is of.
func Path(at Origin, from, location string, origins []Origin) (string, int, *Fault) {
	if len(location) > MaxLocation {
		return "", 0, &Fault{false, fmt.Sprintf("the redirect's Location has %d bytes; at most %d are "+
			"followed", len(location), MaxLocation)}
	}
	bad := func(why string) (string, int, *Fault) {
		return "", 0, &Fault{false, fmt.Sprintf("the redirect to %.80q %s", location, why)}
	}
	if location == "" {
		return bad("leads nowhere: its Location is empty")
	}
	if !strings.HasPrefix(from, "/") { // OPTIONS *
		from = "/"
	}
	base, err := url.Parse(at.Scheme + "://" + at.Host + from)
	if err != nil {
		return "", 0, &Fault{false, "the redirect comes from a path that is no URL"}
	}
	to, err := base.Parse(location)
	if err != nil {
		return bad("is no URL")
	}
	origin := slices.Index(origins, OriginOf(to.Scheme, to.Host))
	if origin < 0 {
		return "", 0, &Fault{true, fmt.Sprintf("the redirect to %.80q leads to an origin that the "+
			"command line does not name: no load goes there", location)}
	}
	to.RawQuery = escapedQuery(to.RawQuery)
	path := to.RequestURI()
	if path[0] != '/' {
		return bad("has no path")
	}
	if len(path) > MaxLocation {
		return "", 0, &Fault{false, fmt.Sprintf("the redirect's path has %d bytes; at most %d are "+
			"followed", len(path), MaxLocation)}
	}
	if problem := proto.ValueProblem(proto.InPath, []byte(path)); problem != "" {
		return "", 0, &Fault{false, "the redirect's path " + problem}
	}
	return path, origin, nil
}

// escapedQuery is a query in which what a URL cannot have is escaped, as browsers and hurl do it.
func escapedQuery(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>'`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
