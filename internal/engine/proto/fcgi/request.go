package fcgi

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"dyno/internal/engine/proto"
)

func (o Options) checkOptions() error {
	if o.CloseAfter < 0 {
		return fmt.Errorf("requests before closing %d: allowed are 0 (never) and more", o.CloseAfter)
	}
	for _, p := range o.Params {
		if p.Name == "" || strings.ContainsAny(p.Name, "=\x00") {
			return fmt.Errorf("FastCGI parameter %q: a name is needed, without = or NUL", p.Name)
		}
	}
	return nil
}

// A message is a request as it is sent.
type message struct {
	head   []byte // with the end of stdin, if there is no body
	body   []byte
	bare   bool           // HEAD: the response will have no body
	filled *proto.Request // nil: it has no holes, and head is all
}

func (o Options) compileRequest(r *proto.Request) message {
	m := message{body: r.Body, bare: r.Method == "HEAD"}
	if len(r.Holes) > 0 {
		m.filled = r
	} else {
		m.head = o.appendHead(nil, r)
	}
	return m
}

// appendFilled appends the head of a message with values of its own, and returns its body.
func (r *run) appendFilled(out []byte, msg proto.Message) (_, body []byte, bare bool) {
	if own := msg.Fill.Own; own != nil {
		return r.appendHead(out, own), own.Body, own.Method == "HEAD"
	}
	m := &r.messages[msg.Request]
	if m.filled == nil {
		return append(out, m.head...), m.body, m.bare
	}
	plain := m.filled.Filled(msg.Fill)
	return r.appendHead(out, &plain), plain.Body, m.bare
}

// appendHead appends the records that begin r, without its body.
func (o Options) appendHead(b []byte, r *proto.Request) []byte {
	b = appendRecord(b, beginRequest, []byte{0, responder, keepConn, 0, 0, 0, 0, 0})
	p := o.encodeParams(r)
	for n := 0; len(p) > 0; p = p[n:] {
		n = min(len(p), maxRecord)
		b = appendRecord(b, params, p[:n])
	}
	b = appendRecord(b, params, nil)
	if len(r.Body) == 0 {
		b = appendRecord(b, stdin, nil)
	}
	return b
}

// encodeParams are r's parameters, encoded.
func (o Options) encodeParams(r *proto.Request) (b []byte) {
	for _, f := range o.newEnvironment(r) {
		b = appendSize(appendSize(b, len(f.Name)), len(f.Value))
		b = append(append(b, f.Name...), f.Value...)
	}
	return b
}

// appendSize writes how long a name or a value is: up to 127 in a byte.
func appendSize(b []byte, n int) []byte {
	if n < 0x80 {
		return append(b, byte(n))
	}
	return binary.BigEndian.AppendUint32(b, uint32(n)|1<<31)
}

// An environment is what CGI calls meta-variables, each name once.
type environment []proto.Field

func (e environment) variable(name string) string {
	for _, f := range e {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func (e *environment) setVariable(name, value string) {
	for i := range *e {
		if (*e)[i].Name == name {
			(*e)[i].Value = value
			return
		}
	}
	*e = append(*e, proto.Field{Name: name, Value: value})
}

// newEnvironment is the environment that a web server would pass on for r.
func (o Options) newEnvironment(r *proto.Request) environment {
	var e environment
	path, query, _ := strings.Cut(r.Path, "?")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	e.setVariable("GATEWAY_INTERFACE", "CGI/1.1")
	e.setVariable("SERVER_PROTOCOL", "HTTP/1.1")
	e.setVariable("REQUEST_METHOD", r.Method)
	e.setVariable("REQUEST_URI", r.Path)
	e.setVariable("REQUEST_SCHEME", "http")
	e.setVariable("SCRIPT_NAME", path)
	e.setVariable("DOCUMENT_URI", path)
	e.setVariable("QUERY_STRING", query)
	host, port, err := net.SplitHostPort(r.Authority)
	if err != nil {
		host, port = r.Authority, ""
	}
	e.setVariable("SERVER_NAME", host)
	e.setVariable("SERVER_PORT", cmp.Or(port, "80"))
	e.setVariable("REMOTE_ADDR", "127.0.0.1")
	e.setVariable("REMOTE_PORT", "0")
	e.setVariable("REDIRECT_STATUS", "200") // else php-cgi refuses, as if called without a server
	if r.SendsLength() {
		e.setVariable("CONTENT_LENGTH", strconv.Itoa(len(r.Body)))
	}
	e.setVariable("HTTP_HOST", r.Authority)
	e.setHeaders(o.Defaults)
	e.setHeaders(r.Header)
	for _, p := range o.Params {
		e.setVariable(p.Name, p.Value)
	}
	if e.variable("SCRIPT_FILENAME") == "" {
		e.setVariable("SCRIPT_FILENAME", strings.TrimSuffix(e.variable("DOCUMENT_ROOT"), "/")+path)
	}
	return e
}

// setHeaders adds the request's own fields. Several fields of one name are joined, as HTTP defines,
// and replace the earlier value.
func (e *environment) setHeaders(fields []proto.Field) {
	seen := map[string]bool{}
	for _, f := range fields {
		name := strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := strings.Trim(f.Value, " \t")
		switch name {
		case "CONTENT_LENGTH", "CONTENT_TYPE":
		default:
			name = "HTTP_" + name
			if seen[name] {
				between := ", "
				if name == "HTTP_COOKIE" {
					between = "; "
				}
				value = e.variable(name) + between + value
			}
		}
		seen[name] = true
		e.setVariable(name, value)
	}
}
