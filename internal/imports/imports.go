// Package imports turns requests that people already have into a requests file of dyno, a line of
// JSON for each request, or into a Hurl file. A person can read and edit both. Its packages below
// read the sources: commands of curl, HAR files, access logs and targets of vegeta.
//
// Two rules hold for all sources. A requests file names no host: it has paths, and who runs it
// names the host on the command line. So entries of other hosts than the wanted one are left out,
// and listed. And no secret gets into the file: a variable stands in its place, whose name is
// listed.
//
// Memory is bounded: sources give one request at a time, and a file has at most MaxRequests.
//
//	collector.go   collects requests, drops what does not belong, writes a requests file
//	hurlfile.go    writes a Hurl file
//	imports.go     a request and its host
//	lines.go       reads sources line by line
//	secrets.go     variables in place of secrets
package imports

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"dyno/internal/engine/proto"
)

// Limits of what is read.
const (
	MaxRequests = 1 << 20   // different ones, as a run can have
	MaxBytes    = 256 << 20 // of a source that is read at once, and of all that is written
	MaxLine     = 1 << 20   // bytes in a line of an access log
	MaxTarget   = 64 << 20  // bytes in a line of a file of targets, which may have a body in base64
)

// A Request is one that a source has.
type Request struct {
	Method string
	URL    string // with its host, or a path and query alone, as they go on the wire; "*" is possible
	Header []proto.Field
	Body   []byte // nil: none, which is not an empty one
	Parts  bool   // the body is multipart/form-data

	// Host is the host that a source names apart from the URL, with or without a port; "" if none.
	Host string
	// At is when it was sent, after an instant that all of its source have in common; Timed says
	// whether the source knows.
	At    time.Duration
	Timed bool

	Status     int      // of the response, as the source recorded it; 0: it did not
	SetCookies []string // names of the cookies that the response set
}

// Unsendable is the error of a request that no file can have. Others are of the whole source.
type Unsendable struct{ Problem error }

func (u Unsendable) Error() string { return u.Problem.Error() }

// A Host is where requests go: what a URL says before its path.
type Host struct{ Scheme, Name, Port string }

// ParseBase reads a URL that names a host and nothing else.
func ParseBase(s string) (Host, error) {
	h, _, path, err := splitURL(s)
	switch {
	case err != nil:
		return Host{}, err
	case path != "/":
		return Host{}, fmt.Errorf("%q has a path; write %s alone", s, h)
	}
	return h, nil
}

// ParseHost reads NAME or NAME:PORT, whose scheme is any.
func ParseHost(s string) (Host, error) {
	if s == "" || strings.ContainsAny(s, "/?#@ ") {
		return Host{}, fmt.Errorf("%q is not a host; write NAME or NAME:PORT", s)
	}
	if name, port, err := net.SplitHostPort(s); err == nil {
		return Host{Name: strings.ToLower(name), Port: port}, nil
	}
	return Host{Name: strings.ToLower(strings.Trim(s, "[]"))}, nil
}

// String is the host as a URL begins, without a port that its scheme has anyway.
func (h Host) String() string {
	s := h.Name
	if strings.Contains(s, ":") {
		s = "[" + s + "]"
	}
	if h.Port != "" && h.Port != usualPort(h.Scheme) {
		s += ":" + h.Port
	}
	if h.Scheme == "" {
		return s
	}
	return h.Scheme + "://" + s
}

func usualPort(scheme string) string {
	return map[string]string{"http": "80", "h2c": "80", "https": "443"}[scheme]
}

// includes reports whether h, which is wanted, is also other, as far as each says.
func (h Host) includes(other Host) bool {
	agree := func(a, b string) bool { return a == "" || b == "" || a == b }
	return h.Name == other.Name && agree(h.Scheme, other.Scheme) && agree(h.Port, other.Port)
}

// localhost is the host of a URL that names a port alone.
const localhost = "127.0.0.1"

// splitURL parts a URL at its path. The path is "/" at least, and has no fragment; login is a user
// and a password, or "".
func splitURL(s string) (h Host, login, path string, err error) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found {
		return h, "", "", fmt.Errorf("%.80q has no scheme; write http://HOST/", s)
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], rest[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if login, err = url.PathUnescape(authority[:at]); err != nil {
			return h, "", "", errors.New("its user name or password has a % that is not %XX")
		}
		if authority = authority[at+1:]; !strings.Contains(login, ":") {
			login += ":"
		}
	}
	h = Host{Scheme: strings.ToLower(scheme), Name: strings.ToLower(authority)}
	if u, err := url.Parse("http://" + authority); err == nil && u.Port() != "" ||
		strings.HasPrefix(authority, "[") {
		if err != nil {
			return h, "", "", fmt.Errorf("%.80q has no host that can be read", s)
		}
		h.Name, h.Port = strings.ToLower(u.Hostname()), u.Port()
	}
	if h.Name == "" && h.Port != "" && strings.HasPrefix(authority, ":") {
		h.Name = localhost // as for vegeta, and other programs in Go
	}
	if h.Name == "" {
		return h, "", "", fmt.Errorf("%.80q names no host", s)
	}
	if h.Port == "" {
		h.Port = usualPort(h.Scheme)
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return h, login, path, nil
}
