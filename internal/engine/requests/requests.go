package requests

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/sequence"
	"dyno/internal/engine/template"
	"dyno/internal/fault"
	"dyno/internal/redact"
)

// Defaults are what a request has if it does not specify it.
type Defaults struct {
	URL    URL           // where all requests go, and the path of one that has none
	Method string        // "": GET, or POST with a body, even an empty one
	Header []proto.Field // sent unless a request has one of the same name
	HTTP2  bool          // requests must be valid for HTTP/2

	Names   *template.Names // what {{name}} can mean in a URL, a header and a body
	RawBody bool            // bodies of Pair have no holes
}

// URLs reads one URL a line: a path, or an absolute URL of base's origin. It ignores empty lines
// and those that start with #. names are what holes in them can be.
func URLs(file string, r io.Reader, base URL, names *template.Names) ([]URL, error) {
	var all []URL
	err := eachLine(file, r, func(line []byte) error {
		begin := len(line) - len(bytes.TrimLeft(line, " \t\r\n\v\f"))
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			return nil
		}
		if len(all) == MaxRequests {
			return tooMany("there are more than %d URLs", MaxRequests)
		}
		u, err := base.resolveReference(string(line))
		all = append(all, u)
		return errors.Join(err, checkHoles(names, string(line), func(before int) int {
			return plainColumn(begin + before)
		}))
	})
	if err == nil && len(all) == 0 {
		err = fault.Fault{File: file, Problem: "has no URL; write one path or URL a line"}
	}
	return all, err
}

// resolveReference parses s, a path or a URL of u's origin.
func (u URL) resolveReference(s string) (URL, error) {
	if strings.HasPrefix(s, "/") {
		s, _, _ = strings.Cut(s, "#")
		path, err := wirePath(s)
		u.Path = path
		return u, err
	}
	if !strings.Contains(s, "://") {
		return URL{}, fmt.Errorf("%q is neither a path, which starts with /, nor a URL", s)
	}
	v, err := Parse(s)
	switch {
	case err != nil:
		return URL{}, err
	case !u.sameOrigin(v):
		return URL{}, fmt.Errorf("leads to %s, and this run may load only %s", v.origin(), u.origin())
	case v.Basic == "":
		v.Basic = u.Basic
	}
	return v, nil
}

// Bodies reads one body a line; an empty line is an empty body. names are what holes in them can
// be.
func Bodies(file string, r io.Reader, names *template.Names) ([][]byte, error) {
	var all [][]byte
	err := eachLine(file, r, func(line []byte) error {
		if len(all) == MaxRequests {
			return tooMany("there are more than %d bodies", MaxRequests)
		}
		all = append(all, append([]byte{}, line...)) // an empty one must not be nil
		return checkHoles(names, string(line), plainColumn)
	})
	if err == nil && len(all) == 0 {
		err = fault.Fault{File: file, Problem: "has no body; write one a line"}
	}
	return all, err
}

// Pair combines URL i and body i into request i. Each list starts again at its end, until both end
// together: three URLs and two bodies are six requests.
func Pair(d Defaults, urls []URL, bodies [][]byte) ([]loadplan.Request, error) {
	n := len(urls) / sequence.GreatestDivisor(len(urls), len(bodies)) * len(bodies)
	if n > MaxRequests {
		return nil, fmt.Errorf("%d URLs and %d bodies pair to %d requests; at most %d are possible: "+
			"make one list as long as the other", len(urls), len(bodies), n, MaxRequests)
	}
	b := builder{Defaults: d, header: d.mergedHeader(nil, d.URL.Basic)}
	for i := range n {
		e := entry{url: urls[i%len(urls)], body: bodies[i%len(bodies)], weight: 1}
		if err := b.addRequest(e); err != nil {
			return nil, err
		}
	}
	return b.done, nil
}

// A builder makes the requests of a run, and keeps what they share.
type builder struct {
	Defaults
	header []proto.Field // of every request without headers and credentials of its own
	done   []loadplan.Request
	timed  bool // they have times
	bytes  int64
}

// An entry is what an input specifies of one request.
type entry struct {
	method string
	url    URL
	header []proto.Field
	body   []byte // nil: none, which is not an empty one
	raw    bool   // the body has no holes, whatever looks like one
	weight int
	name   string
	at     loadplan.Seconds // when it is due, if it is timed
	timed  bool
	expect loadplan.OwnExpectations

	timeout time.Duration   // 0: the run's
	names   *template.Names // what holes can be
	column  int             // where the value begins that is being read
	holes   []error         // faults of holes
}

// addRequest appends the request of e, completed with the defaults.
func (b *builder) addRequest(e entry) error {
	r := loadplan.Request{Name: e.name, Weight: e.weight, At: e.at,
		Timeout: loadplan.Seconds(e.timeout)}
	r.Method, r.Authority, r.Path, r.Body = e.method, e.url.Authority, e.url.Path, e.body
	if r.Method == "" {
		r.Method = b.defaultMethod(e.body)
	}
	r.Header = b.header
	if e.header != nil || e.url.Basic != b.URL.Basic {
		r.Header = b.mergedHeader(e.header, e.url.Basic)
	}
	r.Expect = e.expect.OrNil()
	r.Name = cmp.Or(r.Name, r.Method+" "+r.Path)
	body := e.hasHoles(b.RawBody)
	r.Raw = !body && hasBraces(e.body)
	if isTemplate(r.Request, body) {
		if err := b.compile(&r, body); err != nil {
			return err
		}
	}
	check := h1.Check
	if b.HTTP2 {
		check = fields.Check
	}
	if err := innermostError(check(r.Request)); err != nil {
		return err
	}
	if b.bytes += int64(len(r.Body)); b.bytes > MaxFile {
		return tooMany("the bodies of all requests have more than %d GiB", MaxFile>>30)
	}
	if len(b.done) == MaxRequests {
		return tooMany("there are more than %d requests", MaxRequests)
	}
	b.done = append(b.done, r)
	return nil
}

func (d Defaults) defaultMethod(body []byte) string {
	switch {
	case d.Method != "":
		return d.Method
	case body != nil:
		return "POST"
	}
	return "GET"
}

// mergedHeader is a request's own header, then the defaults it does not override.
func (d Defaults) mergedHeader(own []proto.Field, basic string) []proto.Field {
	var h []proto.Field
	for _, f := range d.Header {
		if !hasField(own, f.Name) {
			h = append(h, f)
		}
	}
	h = append(slices.Clone(own), h...)
	if basic != "" && !hasField(h, "Authorization") {
		h = slices.Insert(h, 0, proto.Field{Name: "Authorization", Value: basic})
	}
	return h
}

func hasField(h []proto.Field, name string) bool {
	return slices.ContainsFunc(h, func(f proto.Field) bool { return strings.EqualFold(f.Name, name) })
}

// isNoName reports whether no name of a header has that letter.
func isNoName(r rune) bool {
	return !(r == '-' || r == '_' || unicode.IsDigit(r) || unicode.IsLetter(r))
}

// Field parses a header line, "Name: value".
func Field(s string) (proto.Field, error) {
	name, value, found := strings.Cut(s, ":")
	if !found { // what follows a name may be a secret, and so may all of it
		if end := strings.IndexFunc(s, isNoName); end > 0 {
			return proto.Field{}, fmt.Errorf("%.60q is not a header; write 'Name: value'", s[:end]+" …")
		}
		return proto.Field{}, errors.New("is not a header; write 'Name: value'")
	}
	f := proto.Field{Name: name, Value: strings.Trim(value, " \t")}
	return f, errors.Join(checkField(f), Unmarked("header "+f.Name, f.Value))
}

// Unmarked reports text with a mark in place of a secret, which cannot be sent.
func Unmarked(what, text string) error {
	if m := redact.FirstMark(text); m != "" {
		return fmt.Errorf("%s has %s in the place of a secret that was not kept; write what it was",
			what, m)
	}
	return nil
}

// checkField reports what is wrong with f as a header line.
func checkField(f proto.Field) error {
	if f.Name == "" {
		return errors.New("a header has no name; write 'Name: value'")
	}
	if strings.EqualFold(f.Name, "Content-Length") {
		return nil // what is right is known with the body
	}
	return innermostError(h1.Check(proto.Request{Method: "GET", Path: "/", Header: []proto.Field{f}}))
}

// Method reports what is wrong with m as a request's method.
func Method(m string) error {
	return innermostError(h1.Check(proto.Request{Method: m, Path: "/"}))
}

// innermostError is the cause in err, which came from h1.Check, on one line and without the
// request's name, which the reader already knows.
func innermostError(err error) error {
	if err == nil {
		return nil
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}
