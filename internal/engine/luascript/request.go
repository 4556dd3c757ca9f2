package luascript

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dyno/internal/engine/proto"
)

// A message is a request that a script made. Its memory is used again for the user's next one.
type message struct {
	request proto.Request
	fill    proto.Fill
}

var (
	errNoLine  = errors.New("it has no request line such as GET / HTTP/1.1")
	errNoEnd   = errors.New("its header does not end with an empty line")
	errChunked = errors.New("it has Transfer-Encoding, and the text of a request has its length in " +
		"Content-Length")
)

// read reads the first request of a text, and returns what follows it. The request points into the
// text, which Lua never changes.
func (m *message) read(text, authority string) (rest string, err error) {
	line, rest, found := cutLine(text)
	method, target, ok := strings.Cut(line, " ")
	path, version, ok2 := cutLast(target)
	switch {
	case !found || !ok || !ok2:
		return "", errNoLine
	case version != "HTTP/1.1" && version != "HTTP/1.0":
		return "", fmt.Errorf("its request line ends with %.20q and not with HTTP/1.1", version)
	}
	r := &m.request
	*r = proto.Request{Method: method, Authority: authority, Path: path, Header: r.Header[:0],
		Body: r.Body[:0]}
	length := 0
	for {
		if line, rest, found = cutLine(rest); !found {
			return "", errNoEnd
		}
		if line == "" {
			break
		}
		name, value, colon := strings.Cut(line, ":")
		if !colon {
			return "", fmt.Errorf("the line %.60q of its header has no colon", line)
		}
		value = strings.Trim(value, " \t")
		switch {
		case len(name) == len("Content-Length") && strings.EqualFold(name, "Content-Length"):
			if length, err = strconv.Atoi(value); err != nil || length < 0 {
				return "", fmt.Errorf("its Content-Length is %.20q", value)
			}
			if length > 0 {
				continue // the codec sends that of the body
			}
		case len(name) == len("Transfer-Encoding") && strings.EqualFold(name, "Transfer-Encoding"):
			return "", errChunked
		}
		r.Header = append(r.Header, proto.Field{Name: name, Value: value})
	}
	if length > len(rest) {
		return "", fmt.Errorf("its Content-Length is %d, and %d bytes follow", length, len(rest))
	}
	r.Body = append(r.Body, rest[:length]...)
	return rest[length:], nil
}

// cutLine returns the first line of a text, without its end, and what follows.
func cutLine(text string) (line, rest string, found bool) {
	i := strings.IndexByte(text, '\n')
	if i < 0 {
		return "", "", false
	}
	return strings.TrimSuffix(text[:i], "\r"), text[i+1:], true
}

// cutLast returns what is before and after the last space.
func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}
