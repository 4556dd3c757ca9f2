// Package har reads the requests of HAR files (HTTP Archive 1.2), which browsers and proxies
// export.
package har

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/fault"
	"dyno/internal/imports"
)

// An Archive is what was read of a file besides its requests.
type Archive struct {
	Creator string // the program that wrote it
	Entries int
	Cached  int // entries that the browser took from its cache, which were not sent

	Nameless []string // headers that are none, which were left out of requests
	Changed  int      // requests whose body has another length than was sent: files lack bytes
}

// An entry of the file, as far as it is of interest.
type entry struct {
	Started  string `json:"startedDateTime"`
	Cache    string `json:"_fromCache"` // of chromium: memory or disk
	Request  *request
	Response *struct {
		Status  int
		Headers []proto.Field
		Cookies []struct{ Name string }
	}
}

type request struct {
	Method  string
	URL     string
	Headers []proto.Field
	Size    int64 `json:"bodySize"`
	Post    *struct {
		MIME   string `json:"mimeType"`
		Text   *string
		Coding string `json:"encoding"`
		Params []struct {
			Name, Value string
			File        string `json:"fileName"`
		}
	} `json:"postData"`
}

// Read gives the requests of a file, as file of that name, to take, in their order. drop is told of
// entries that are no request over HTTP. It stops at the first error, which has the line.
func Read(file string, r io.Reader, take func(imports.Request) error,
	drop func(scheme, url string)) (Archive, error) {
	text, err := imports.ReadAll(file, r)
	if err != nil {
		return Archive{}, err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	p := parser{file: file, text: text, json: json.NewDecoder(bytes.NewReader(text)), take: take,
		drop: drop}
	if err := p.archive(); err != nil {
		return p.read, err
	}
	if p.read.Entries == 0 {
		return p.read, fault.Fault{File: file, Problem: "is a HAR file without an entry"}
	}
	return p.read, nil
}

// A parser reads one file.
type parser struct {
	file string
	text []byte
	json *json.Decoder
	take func(imports.Request) error
	drop func(scheme, url string)
	read Archive
	at   int // byte with which the entry begins that is read
}

// fault is an error at a byte of the file.
func (p *parser) fault(offset int, format string, args ...any) error {
	line, column := imports.Place(p.text, offset)
	return fault.Fault{File: p.file, Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}

// broken is the error of JSON that cannot be read.
func (p *parser) broken(err error) error {
	s, is := errors.AsType[*json.SyntaxError](err)
	if is && !strings.HasPrefix(s.Error(), "unexpected end") {
		offset := p.firstSyntaxError(int(s.Offset))
		return p.fault(offset, "is no JSON: %v", err)
	}
	if t, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return p.fault(p.at, "%s is a %s, which a HAR file does not have there",
			strings.ToLower(t.Field), t.Value)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.fault(len(p.text), "ends within the JSON; it was cut off")
	}
	return p.fault(p.at, "%v", err)
}

// firstSyntaxError is where the JSON of the file is wrong; found is what a decoder said of a part.
func (p *parser) firstSyntaxError(found int) int {
	var v json.RawMessage
	if s, is := errors.AsType[*json.SyntaxError](json.Unmarshal(p.text, &v)); is {
		return int(s.Offset) - 1
	}
	return found - 1
}

// archive reads {"log": {"entries": […]}}.
func (p *parser) archive() error {
	if len(bytes.TrimSpace(p.text)) == 0 {
		return fault.Fault{File: p.file, Problem: "is empty"}
	}
	none := errors.New(`has no "log" with "entries", so it is no HAR file`)
	found := false
	err := p.members(func(key string) error {
		if key != "log" {
			return p.skip()
		}
		return p.members(func(key string) error {
			switch key {
			case "entries":
				found = true
				return p.entries()
			case "creator":
				var c struct{ Name, Version string }
				if err := p.json.Decode(&c); err != nil {
					return p.broken(err)
				}
				p.read.Creator = strings.TrimSpace(c.Name + " " + c.Version)
				return nil
			}
			return p.skip()
		})
	})
	if err == nil && !found {
		return p.fault(0, "%v", none)
	}
	return err
}

// members calls each with the keys of the object that is next.
func (p *parser) members(each func(key string) error) error {
	at := int(p.json.InputOffset())
	t, err := p.json.Token()
	if err != nil {
		return p.broken(err)
	}
	if t != json.Delim('{') {
		return p.fault(p.next(at), "is no object, as a HAR file has there")
	}
	for p.json.More() {
		key, err := p.json.Token()
		if err != nil {
			return p.broken(err)
		}
		if err := each(key.(string)); err != nil { // only a string can be a key
			return err
		}
	}
	if _, err := p.json.Token(); err != nil {
		return p.broken(err)
	}
	return nil
}

// next is the first byte from at on that is no blank, comma or colon.
func (p *parser) next(at int) int {
	rest := p.text[min(at, len(p.text)):]
	return at + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

func (p *parser) skip() error {
	var v json.RawMessage
	if err := p.json.Decode(&v); err != nil {
		return p.broken(err)
	}
	return nil
}

// entries reads the list of entries.
func (p *parser) entries() error {
	p.at = p.next(int(p.json.InputOffset()))
	if t, err := p.json.Token(); err != nil {
		return p.broken(err)
	} else if t != json.Delim('[') {
		return p.fault(p.at, `"entries" is no list`)
	}
	for p.json.More() {
		p.at = p.next(int(p.json.InputOffset()))
		var e entry
		if err := p.json.Decode(&e); err != nil {
			return p.broken(err)
		}
		p.read.Entries++
		if err := p.entry(e); err != nil {
			return p.fault(p.at, "%v", err)
		}
	}
	if _, err := p.json.Token(); err != nil {
		return p.broken(err)
	}
	return nil
}

// entry takes an entry.
func (p *parser) entry(e entry) error {
	if e.Request == nil || e.Request.URL == "" || e.Request.Method == "" {
		return errors.New(`the entry has no "request" with "method" and "url"`)
	}
	if e.Cache != "" {
		p.read.Cached++
		return nil
	}
	r := imports.Request{Method: e.Request.Method, URL: e.Request.URL}
	scheme, _, found := strings.Cut(r.URL, ":")
	if scheme = strings.ToLower(scheme); found && scheme != "http" && scheme != "https" {
		p.drop(scheme+":", r.URL)
		return nil
	}
	sent := max(e.Request.Size, 0) // bytes of the body
	for _, f := range e.Request.Headers {
		switch {
		case strings.EqualFold(f.Name, "Content-Length"):
			if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil {
				sent = n
			}
		case connectionField(f.Name):
		case !imports.IsHeaderName(f.Name):
			p.nameless(f.Name)
		default:
			r.Header = append(r.Header, f)
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, e.Started); err == nil {
		r.At, r.Timed = t.Sub(time.Unix(0, 0)), true
	}
	e.setResponse(&r)
	err := setBody(&r, e.Request)
	if err == nil && r.Body == nil && sent > 0 {
		err = errNoBody
	}
	if err == nil {
		err = p.take(r)
	}
	unsendable, is := errors.AsType[imports.Unsendable](err)
	switch {
	case is:
		p.drop(unsendable.Error(), r.URL)
		return nil
	case err == nil && r.Body != nil && sent > 0 && sent != int64(len(r.Body)):
		p.read.Changed++
	}
	return err
}

// errNoBody is the error of an entry that lacks what was sent.
var errNoBody = imports.Unsendable{Problem: errors.New("a body that is not in the file")}

// mostNameless is how many headers are named that are none.
const mostNameless = 20

func (p *parser) nameless(name string) {
	if len(p.read.Nameless) < mostNameless && !slices.Contains(p.read.Nameless, name) {
		p.read.Nameless = append(p.read.Nameless, name)
	}
}

// setResponse sets what is of interest of the response.
func (e *entry) setResponse(r *imports.Request) {
	if e.Response == nil {
		return
	}
	if s := e.Response.Status; s >= 100 && s < 600 {
		r.Status = s
	}
	for _, c := range e.Response.Cookies {
		r.SetCookies = append(r.SetCookies, c.Name)
	}
	for _, f := range e.Response.Headers {
		if strings.EqualFold(f.Name, "Set-Cookie") {
			for line := range strings.Lines(f.Value) { // one each, in some browsers' files
				name, _, _ := strings.Cut(line, "=")
				r.SetCookies = append(r.SetCookies, strings.TrimSpace(name))
			}
		}
	}
}

// connectionField reports whether a header is of a connection or follows from the rest, so that
// dyno writes it itself: pseudo-headers of HTTP/2 are among them.
func connectionField(name string) bool {
	switch strings.ToLower(name) {
	case "host", "connection", "content-length", "transfer-encoding", "keep-alive",
		"proxy-connection", "upgrade", "http2-settings", "te", "expect":
		return true
	}
	return strings.HasPrefix(name, ":")
}

// setBody sets the body of r from postData.
func setBody(r *imports.Request, from *request) error {
	post := from.Post
	if post == nil {
		return nil
	}
	typed := slices.ContainsFunc(r.Header, func(f proto.Field) bool {
		return strings.EqualFold(f.Name, "Content-Type")
	})
	r.Parts = strings.HasPrefix(strings.ToLower(post.MIME), "multipart/form-data")
	if !typed && post.MIME != "" {
		kind := post.MIME
		if post.Text != nil && r.Parts && !strings.Contains(kind, "boundary=") {
			line, _, _ := strings.Cut(*post.Text, "\r\n")
			if boundary, is := strings.CutPrefix(line, "--"); is {
				kind += "; boundary=" + boundary
			}
		}
		r.Header = append(r.Header, proto.Field{Name: "Content-Type", Value: kind})
	}
	switch {
	case post.Text != nil && post.Coding == "base64":
		body, err := base64.StdEncoding.DecodeString(*post.Text)
		if err != nil {
			return errNoBody
		}
		r.Body = body
	case post.Text != nil && (*post.Text != "" || len(post.Params) == 0):
		r.Body = []byte(*post.Text)
	case r.Parts, len(post.Params) == 0:
		return errNoBody
	default:
		var pairs []string
		for _, f := range post.Params {
			pairs = append(pairs, url.QueryEscape(f.Name)+"="+url.QueryEscape(f.Value))
		}
		r.Body = []byte(strings.Join(pairs, "&"))
	}
	return nil
}
