package h1

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/engine/proto"
)

func (o Options) checkOptions() error {
	switch {
	case o.Depth < 0 || o.Depth > MaxDepth:
		return fmt.Errorf("pipelining depth %d: allowed are 1 to %d", o.Depth, MaxDepth)
	case o.CloseAfter < 0:
		return fmt.Errorf("requests before closing %d: allowed are 0 (never) and more", o.CloseAfter)
	case strings.ContainsAny(o.UserAgent, "\r\n\x00"):
		return fmt.Errorf("User-Agent %q: contains CR, LF or NUL", o.UserAgent)
	}
	return nil
}

// Check returns all reasons why r cannot be sent as an HTTP/1.x request, with the request's name;
// nil means that Protocol accepts it.
func Check(r proto.Request) error {
	var faults []error
	add := func(format string, a ...any) { faults = append(faults, fmt.Errorf(format, a...)) }
	switch {
	case !isToken(r.Method):
		add("method %q is not a token", r.Method)
	case r.Method == "CONNECT":
		add("method CONNECT asks for a tunnel, which dyno does not make")
	}
	switch {
	case r.Path == "*" && r.Method == "OPTIONS":
	case !strings.HasPrefix(r.Path, "/"):
		add("path %q does not begin with /", r.Path)
	case strings.ContainsFunc(r.Path, isBlank):
		add("path %q contains a space or a control character; write it as %%20 or the like", r.Path)
	}
	if strings.ContainsFunc(r.Authority, isBlank) {
		add("host %q contains a space or a control character", r.Authority)
	}
	for _, f := range r.Header {
		switch {
		case !isToken(f.Name):
			add("header name %q is not a token", f.Name)
		case strings.ContainsAny(f.Value, "\r\n\x00"):
			add("header %s: its value %q contains CR, LF or NUL", f.Name, f.Value)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%.40q %.100q: %w", r.Method, r.Path, errors.Join(faults...))
}

func isBlank(r rune) bool { return r <= ' ' || r == 0x7f }

// isToken reports whether s is one of RFC 9110's tokens.
func isToken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

// A message is a request as it is sent.
type message struct {
	head, last []byte // the same as a connection's last request, for CloseAfter
	body       []byte
	bare       bool // HEAD: the response will have no body
	ends       bool // head itself ends the connection
}

func (o Options) encodeRequest(r proto.Request) message {
	keep := hasItem(r.Header, "Connection", "keep-alive")
	m := message{
		head: o.appendHead(nil, r, false),
		body: r.Body,
		bare: r.Method == "HEAD",
		ends: hasItem(r.Header, "Connection", "close") || o.Version10 && !keep,
	}
	if o.CloseAfter > 0 {
		m.last = o.appendHead(nil, r, true)
	}
	return m
}

func (o Options) appendHead(b []byte, r proto.Request, last bool) []byte {
	version := " HTTP/1.1\r\n"
	if o.Version10 {
		version = " HTTP/1.0\r\n"
	}
	b = append(append(append(append(b, r.Method...), ' '), r.Path...), version...)
	if !hasItem(r.Header, "Host", "") {
		b = appendField(b, "Host", r.Authority)
	}
	if o.UserAgent != "" && !hasItem(r.Header, "User-Agent", "") {
		b = appendField(b, "User-Agent", o.UserAgent)
	}
	says := last && !o.Version10 // of which every request is the last, unless it asks to be kept
	drop := says || last && hasItem(r.Header, "Connection", "keep-alive")
	for _, f := range r.Header {
		if !drop || !strings.EqualFold(f.Name, "Connection") {
			b = appendField(b, f.Name, f.Value)
		}
	}
	if hasBodyLength(r) {
		b = appendField(b, "Content-Length", strconv.Itoa(len(r.Body)))
	}
	if says {
		b = appendField(b, "Connection", "close")
	}
	return append(b, "\r\n"...)
}

func appendField(b []byte, name, value string) []byte {
	b = append(append(b, name...), ':')
	if value != "" {
		b = append(append(b, ' '), value...)
	}
	return append(b, "\r\n"...)
}

// hasBodyLength reports whether the request must contain the length of its body.
func hasBodyLength(r proto.Request) bool {
	if hasItem(r.Header, "Content-Length", "") || hasItem(r.Header, "Transfer-Encoding", "") {
		return false
	}
	switch r.Method {
	case "POST", "PUT", "PATCH":
		return true
	}
	return len(r.Body) > 0
}

// hasItem reports whether header has a field of that name, in any case. If item is not empty, the
// field's list must contain it.
func hasItem(header []proto.Field, name, item string) bool {
	for _, f := range header {
		if !strings.EqualFold(f.Name, name) {
			continue
		}
		if item == "" {
			return true
		}
		for s := range strings.SplitSeq(f.Value, ",") {
			if strings.EqualFold(strings.TrimSpace(s), item) {
				return true
			}
		}
	}
	return false
}
