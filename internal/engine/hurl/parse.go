package hurl

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"dyno/internal/fault"
)

// maxBytes is how long a file may be.
const maxBytes = 4 << 20

// Parse reads a file of that name. The error is a fault.Fault: reading ends at the first mistake.
func Parse(name, text string) (*File, error) {
	p := parser{text: text, name: name}
	for i := range len(text) + 1 {
		if i == 0 || text[i-1] == '\n' {
			p.lines = append(p.lines, i)
		}
	}
	f := &File{Name: name, Source: text}
	switch bad := invalidUTF8(text); {
	case len(text) > maxBytes:
		return nil, fault.Fault{File: name, Problem: fmt.Sprintf("has %d bytes; %d are possible",
			len(text), maxBytes)}
	case bad >= 0:
		p.fail(bad, "is not UTF-8")
	default:
		if strings.HasPrefix(text, "\ufeff") {
			p.at = len("\ufeff")
		}
		p.file(f)
	}
	if p.fault != nil {
		return nil, *p.fault
	}
	return f, nil
}

func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

// A parser reads text from a place on. Once it has a fault it is at the end, and all it reads is
// worth nothing.
type parser struct {
	name  string
	text  string
	at    int
	lines []int // where each begins
	notes []note
	fault *fault.Fault
}

// fail notes the first fault, and moves to the end.
func (p *parser) fail(at int, format string, args ...any) {
	if p.fault == nil {
		pos := p.pos(at)
		p.fault = &fault.Fault{File: p.name, Line: pos.Line, Column: pos.Column,
			Problem: fmt.Sprintf(format, args...)}
	}
	p.at = len(p.text)
}

// pos is the place of a byte.
func (p *parser) pos(at int) Pos {
	line := sort.SearchInts(p.lines, at+1)
	if line == 0 {
		return Pos{1, at + 1}
	}
	return Pos{line, at - p.lines[line-1] + 1}
}

// rest is what was not read.
func (p *parser) rest() string { return p.text[p.at:] }

// peek is the next byte; 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// take reads s if that comes next.
func (p *parser) take(s string) bool {
	if strings.HasPrefix(p.rest(), s) {
		p.at += len(s)
		return true
	}
	return false
}

// expect reads s, which has to come next.
func (p *parser) expect(s string) {
	if !p.take(s) {
		p.fail(p.at, "%q is expected here", s)
	}
}

// takeWhile reads the bytes that is reports true for.
func (p *parser) takeWhile(is func(byte) bool) string {
	from := p.at
	for p.at < len(p.text) && is(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

func isSpace(c byte) bool    { return c == ' ' || c == '\t' }
func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool    { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isAlphaNum(c byte) bool { return isDigit(c) || isAlpha(c) }

func (p *parser) spaces() { p.takeWhile(isSpace) }

// gap reads the spaces that have to come next.
func (p *parser) gap() {
	if p.takeWhile(isSpace) == "" {
		p.fail(p.at, "a space is expected here")
	}
}

// lineEnd reads what may follow on a line: spaces and a comment.
func (p *parser) lineEnd() {
	at := p.at
	if !p.takeLineEnd() {
		p.spaces()
		at = max(at, p.at)
		p.fail(at, "the line does not end here: %.40q is left", firstLine(p.text[at:]))
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r")
}

// takeLineEnd is lineEnd that reports whether that is all there is. If not, it reads nothing.
func (p *parser) takeLineEnd() bool {
	from := p.at
	p.spaces()
	if p.peek() == '#' {
		at := p.at
		comment := firstLine(p.text[at+1:])
		p.at += 1 + len(comment)
		p.addNote(at, comment)
	}
	if p.at == len(p.text) || p.take("\r\n") || p.take("\n") {
		return true
	}
	p.at = from
	return false
}

// blankLines reads lines that are empty, or a comment.
func (p *parser) blankLines() {
	for p.at < len(p.text) && p.takeLineEnd() {
	}
}

// ahead reads blank lines and spaces. If read then reports false, nothing was read.
func (p *parser) ahead(read func() bool) bool {
	from := p.at
	p.blankLines()
	p.spaces()
	if p.fault == nil && p.at < len(p.text) && read() {
		return true
	}
	if p.fault == nil {
		p.at = from
	}
	return false
}

func (p *parser) file(f *File) {
	for p.fault == nil {
		from := p.at
		p.blankLines()
		if p.at == len(p.text) {
			break
		}
		p.spaces()
		method := p.at
		e := p.entry()
		p.applyNotes(f, &e, from, method)
		f.Entries = append(f.Entries, e)
	}
	p.refuseNotes()
}

func (p *parser) entry() (e Entry) {
	e.Request = p.request()
	p.ahead(func() bool {
		if !p.take("HTTP") {
			return false
		}
		e.Response = p.response(p.at - len("HTTP"))
		return true
	})
	return e
}

func (p *parser) request() (r Request) {
	at := p.at
	r.Pos = p.pos(at)
	r.Method = p.takeWhile(isAlpha)
	if r.Method == "" || strings.ToUpper(r.Method) != r.Method {
		p.fail(at, "%.40q begins no request: write a method in capitals and a URL, as "+
			"GET {{base}}/", firstLine(p.text[at:]))
		return r
	}
	p.gap()
	r.URL = p.unquoted()
	p.lineEnd()
	r.Headers = p.keyValues()
	seen := map[string]bool{}
	for p.section(seen, func(name string) bool { return p.requestSection(name, &r) }) {
	}
	r.Body = p.optionalBody()
	return r
}

// section reads a section if one comes next. Its name is known if read reports true.
func (p *parser) section(seen map[string]bool, read func(name string) bool) bool {
	return p.ahead(func() bool {
		at := p.at
		if !p.take("[") {
			return false
		}
		name := p.takeWhile(isAlphaNum)
		if name == "" || !p.take("]") { // it may be a list in JSON
			return false
		}
		p.lineEnd()
		switch {
		case p.fault != nil:
		case seen[name]:
			p.fail(at, "section [%s] is there twice", name)
		case !read(name):
			p.fail(at+1, "%q is no section here", name)
		}
		seen[name] = true
		return true
	})
}

func (p *parser) requestSection(name string, r *Request) bool {
	switch name {
	case "Query", "QueryStringParams":
		r.Query = append(r.Query, p.keyValues()...)
	case "Form", "FormParams":
		r.Form = append(r.Form, p.keyValues()...)
	case "Multipart", "MultipartFormData":
		r.Multipart = append(r.Multipart, p.parts()...)
	case "Cookies":
		r.Cookies = p.keyValues()
	case "BasicAuth":
		if kv, ok := p.keyValue(); ok {
			r.BasicAuth = []KeyValue{kv}
		}
	case "Options":
		r.Options = p.options()
	default:
		return false
	}
	return true
}

func (p *parser) response(at int) *Response {
	r := &Response{Status: -1, VersionPos: p.pos(at)}
	if !isSpace(p.peek()) {
		for _, version := range []string{"1.0", "1.1", "2", "3"} {
			if p.take("/" + version) {
				r.Version = version
				break
			}
		}
		if r.Version == "" {
			p.fail(at, "the version is HTTP, HTTP/1.0, HTTP/1.1, HTTP/2 or HTTP/3")
		}
	}
	p.gap()
	if r.StatusPos = p.pos(p.at); !p.take("*") {
		at := p.at
		n, err := strconv.ParseUint(p.takeWhile(isDigit), 10, 64)
		if err != nil {
			p.fail(at, "a status, as 200, or * is expected here")
		}
		r.Status = int(min(n, math.MaxInt32))
	}
	p.lineEnd()
	r.Headers = p.keyValues()
	seen := map[string]bool{}
	for p.section(seen, func(name string) bool { return p.responseSection(name, r) }) {
	}
	r.Body = p.optionalBody()
	return r
}

func (p *parser) responseSection(name string, r *Response) bool {
	switch name {
	case "Captures":
		r.Captures = p.captures()
	case "Asserts":
		r.Asserts = p.asserts()
	default:
		return false
	}
	return true
}

func (p *parser) keyValues() (all []KeyValue) {
	for {
		kv, ok := p.keyValue()
		if !ok {
			return all
		}
		all = append(all, kv)
	}
}

// keyValue reads a line "key: value" if one comes next.
func (p *parser) keyValue() (kv KeyValue, ok bool) {
	ok = p.ahead(func() bool {
		if kv.Key, ok = p.key(); !ok {
			return false
		}
		kv.Value = p.unquoted()
		p.lineEnd()
		return true
	})
	return kv, ok && p.fault == nil
}

func (p *parser) parts() (all []Part) {
	for p.ahead(func() bool {
		key, ok := p.key()
		if !ok {
			return false
		}
		one := Part{Key: key}
		if one.File = p.take("file,"); one.File {
			p.spaces()
			one.Value = p.filename()
			p.spaces()
			p.expect(";")
			if p.spaces(); p.peek() != '#' && p.peek() != '\n' && p.peek() != '\r' {
				one.Type = p.unquoted()
			}
		} else {
			one.Value = p.unquoted()
		}
		p.lineEnd()
		all = append(all, one)
		return true
	}) {
	}
	return all
}

func (p *parser) captures() (all []Capture) {
	for p.ahead(func() bool {
		name, ok := p.key()
		if !ok {
			return false
		}
		c, from := Capture{Name: name}, p.at
		if c.Query, ok = p.query(); !ok {
			p.fail(p.at, "%.40q is no query, as jsonpath \"$.id\"", firstLine(p.rest()))
		}
		c.Filters = p.filters()
		c.Text = strings.TrimSpace(p.text[from:p.at])
		from = p.at
		if p.spaces(); p.take("redact") {
			c.Redact = true
		} else if p.fault == nil {
			p.at = from
		}
		p.lineEnd()
		all = append(all, c)
		return true
	}) {
	}
	return all
}

func (p *parser) asserts() (all []Assert) {
	for p.ahead(func() bool {
		from := p.at
		query, ok := p.query()
		if !ok {
			return false
		}
		a := Assert{Query: query, Filters: p.filters()}
		p.gap()
		a.Predicate = p.predicate()
		a.Text = strings.TrimSpace(p.text[from:p.at])
		p.lineEnd()
		all = append(all, a)
		return true
	}) {
	}
	return all
}
