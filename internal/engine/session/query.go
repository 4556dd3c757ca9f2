package session

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"dyno/internal/engine/content"
	"dyno/internal/engine/cookie"
	"dyno/internal/engine/jsonpath"
	"dyno/internal/engine/markup"
	"dyno/internal/engine/scenario"
)

// scratch is the memory of one worker while a response is judged.
type scratch struct {
	response *scenario.Response
	most     int64 // bytes of a body that are decoded
	exceeded bool  // by what is being judged: it takes more than the limits of package scenario
	steps    int   // of searches, since judge asked for them
	decoder  *content.Decoder
	finder   markup.Finder
	text     []byte // that values point into
	selected [][]byte

	decoded    []byte // the body without its content encoding
	decodedErr error
	long       bool // it is more than what is decoded
	isDecoded  bool
	document   *markup.Document // nil: the body was not parsed
	documentAs error
}

// exceed notes that the limits are exceeded, and returns the error.
func (s *scratch) exceed() error {
	s.exceeded = true
	return scenario.ErrLimits
}

// reset forgets a response, and keeps the memory.
func (s *scratch) reset() {
	*s = scratch{most: s.most, decoder: s.decoder, finder: s.finder, text: s.text[:0],
		selected: s.selected[:0]}
}

var (
	errTruncated = errors.New("the body is longer than what is kept of it")
	errNotText   = errors.New("the body is no text in its charset")
	errNotJSON   = errors.New("the body is no JSON")
	errCoding    = errors.New("the body is compressed in a way that dyno cannot decode")
)

// evaluate is the value of a query after its filters.
func (w *worker) evaluate(x *user, a *assert) (v value, err error) {
	v, err = w.query(x, &a.query)
	for i := range a.filters {
		if err != nil {
			return v, err
		}
		if v.kind == none {
			return v, errors.New("there is no value for the filter " + a.filters[i].name)
		}
		v, err = w.filter(x, &a.filters[i], v)
	}
	return v, err
}

// query is the value of a query.
func (w *worker) query(x *user, q *query) (v value, err error) {
	s := &w.scratch
	r := s.response
	switch q.name {
	case "status":
		return ofInteger(int64(r.Status)), nil
	case "version":
		return ofText(versions[r.Protocol]), nil
	case "url":
		from := len(s.text)
		s.text = append(append(append(s.text, w.Origin.Scheme...), "://"...), w.Origin.Authority...)
		s.text = append(s.text, x.path...)
		return ofText(s.text[from:]), nil
	case "duration":
		return ofInteger(r.Took.Milliseconds()), nil
	case "redirects":
		return x.redirects(), nil
	case "header":
		return w.headerValue(x, q)
	case "cookie":
		return w.cookieValue(x, q)
	case "variable":
		return w.valueOf(x, q.from), nil
	}
	return w.bodyValue(x, q)
}

// versions are those of HTTP, by the names of protocols in a response.
var versions = map[string][]byte{"http/1.0": []byte("1.0"), "http/1.1": []byte("1.1"),
	"h2": []byte("2"), "h3": []byte("3")}

// bodyValue is the value of a query of the body.
func (w *worker) bodyValue(x *user, q *query) (v value, err error) {
	s := &w.scratch
	if q.name == "rawbytes" {
		return value{kind: binary, text: s.response.Body}, s.wholeBody()
	}
	body, err := s.body()
	if err != nil {
		return v, err
	}
	switch q.name {
	case "bytes":
		return value{kind: binary, text: body}, nil
	case "sha256":
		sum := sha256.Sum256(body)
		return s.ofSum(sum[:]), nil
	case "md5":
		sum := md5.Sum(body)
		return s.ofSum(sum[:]), nil
	}
	if body, err = s.bodyText(body); err != nil {
		return v, err
	}
	s.steps += scenario.NodeSteps * len(body) // what it takes to decode JSON or a tree
	switch q.name {
	case "jsonpath":
		return w.selectJSON(x, &q.arg, body, errNotJSON)
	case "xpath":
		return w.selectXPath(x, &q.arg, body)
	case "regex":
		return w.firstGroup(x, &q.arg, body)
	}
	return ofText(body), nil
}

func (s *scratch) ofSum(sum []byte) value {
	from := len(s.text)
	s.text = append(s.text, sum...)
	return value{kind: binary, text: s.text[from:]}
}

// wholeBody reports that there is more of the body than is kept.
func (s *scratch) wholeBody() error {
	if s.response.Truncated() {
		return errTruncated
	}
	return nil
}

// body is the response's, without its content encoding.
func (s *scratch) body() ([]byte, error) {
	coding := s.response.Field("content-encoding")
	switch {
	case s.isDecoded:
	case s.response.Truncated():
		s.decodedErr = errTruncated
	case len(coding) == 0:
		s.decoded = s.response.Body
	case content.Knows(coding):
		if s.decoder == nil {
			s.decoder = new(content.Decoder)
		}
		var more bool
		s.decoded, more, s.decodedErr = s.decoder.Decode(coding, s.response.Body, true, s.most)
		if s.long = more; more {
			s.decodedErr = errTruncated
		}
	default:
		s.decodedErr = errCoding
	}
	s.isDecoded = true
	return s.decoded, s.decodedErr
}

// bodyText is the body in UTF-8.
func (s *scratch) bodyText(body []byte) ([]byte, error) {
	kind := s.response.Field("content-type")
	i := indexFold(kind, "charset")
	if i >= 0 {
		label := strings.Trim(string(kind[i+len("charset"):]), " =\"")
		label, _, _ = strings.Cut(label, ";")
		if label = strings.Trim(label, " \""); !strings.EqualFold(label, "utf-8") {
			return decodeCharset(body, label)
		}
	}
	if !utf8.Valid(body) {
		return nil, errNotText
	}
	return body, nil
}

// indexFold is where a word begins in b, in letters of any case; -1 if it does not.
func indexFold(b []byte, word string) int {
	for i := range len(b) - len(word) + 1 {
		if strings.EqualFold(string(b[i:i+len(word)]), word) {
			return i
		}
	}
	return -1
}

// isCharset reports whether a charset has that name.
func isCharset(label string) bool {
	e, _ := charset.Lookup(label)
	return e != nil
}

func decodeCharset(b []byte, label string) ([]byte, error) {
	e, _ := charset.Lookup(label)
	if e == nil {
		return nil, errNotText
	}
	return e.NewDecoder().Bytes(b)
}

// headerValue is the value of a field; a list if there are several.
func (w *worker) headerValue(x *user, q *query) (v value, err error) {
	name, err := w.textOf(x, &q.arg)
	if err != nil {
		return v, err
	}
	r := w.scratch.response
	var more []value
	for i := range r.Fields() {
		is, field, trailer := r.FieldAt(i)
		if trailer || !bytes.EqualFold(is, name) {
			continue
		}
		one := ofText(bytes.TrimSpace(field))
		switch {
		case v.kind == none:
			v = one
		case more == nil:
			more = []value{v, one}
		default:
			more = append(more, one)
		}
	}
	if more != nil {
		v = ofList(more)
	}
	return v, nil
}

// cookieValue is the value, or an attribute, of a cookie that the response sets.
func (w *worker) cookieValue(x *user, q *query) (v value, err error) {
	name, err := w.textOf(x, &q.arg)
	if err != nil {
		return v, err
	}
	r := w.scratch.response
	for i := range r.Fields() {
		is, field, trailer := r.FieldAt(i)
		if trailer || string(is) != "set-cookie" {
			continue
		}
		if c, ok := cookie.Parse(field); ok && bytes.Equal(c.Name, name) {
			return attributeOf(&c, q.attribute), nil
		}
	}
	return v, nil
}

// attributeOf is the value of a cookie's attribute; none if it has not that.
func attributeOf(c *cookie.SetCookie, name string) (v value) {
	present := func(b []byte) value {
		if b == nil {
			return value{}
		}
		return ofText(b)
	}
	switch name {
	case "", "value":
		return ofText(c.Value)
	case "expires":
		if c.HasExpires {
			return value{kind: date, i: c.Expires * 1e9}
		}
	case "max-age":
		if s, ok := c.MaxAge(); ok {
			return ofInteger(s)
		}
	case "domain":
		return present(c.Domain)
	case "path":
		return present(c.Path)
	case "samesite":
		return present(c.SameSite)
	case "secure":
		if c.Secure {
			return value{kind: unit}
		}
	case "httponly":
		if c.HTTPOnly {
			return value{kind: unit}
		}
	}
	return v
}

// textOf is the text of an argument.
func (w *worker) textOf(x *user, a *arg) ([]byte, error) {
	if a.parts == nil {
		return a.text, nil
	}
	from := len(w.scratch.text)
	b, err := w.appendParts(w.scratch.text, x, a.parts)
	w.scratch.text = b
	return b[from:], err
}

// selectJSON is what a JSON path selects: none, a value, or a list of several.
func (w *worker) selectJSON(x *user, a *arg, body []byte, bad error) (v value, err error) {
	path := a.path
	if path == nil {
		b, err := w.textOf(x, a)
		if err == nil {
			path, err = jsonpath.Parse(string(b))
		}
		if err != nil {
			return v, err
		}
	}
	s := &w.scratch
	s.selected, err = path.Select(s.selected[:0], body)
	switch {
	case errors.Is(err, scenario.ErrLimits):
		return v, s.exceed()
	case err != nil:
		return v, bad
	case len(s.selected) == 0:
		return v, nil
	case len(s.selected) == 1:
		return s.fromJSON(s.selected[0]), nil
	}
	all := make([]value, len(s.selected))
	for i, b := range s.selected {
		all[i] = s.fromJSON(b)
	}
	return ofList(all), nil
}

// firstGroup is what the first group of a regular expression matches; none if it does not.
func (w *worker) firstGroup(x *user, a *arg, body []byte) (v value, err error) {
	re, err := w.patternFor(x, a, body)
	if err != nil {
		return v, err
	}
	at := re.FindSubmatchIndex(body)
	if len(at) < 4 || at[2] < 0 {
		return v, nil
	}
	return ofText(body[at[2]:at[3]]), nil
}
