// Package vegeta reads targets of vegeta attack, in either of its two formats: text, as of an HTTP
// request, and a line of JSON a target.
package vegeta

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/fault"
	"dyno/internal/imports"
)

// Read gives the targets of a file, as file of that name, to take, in their order. Bodies in files
// are read from the current folder. It stops at the first error, which has the line.
func Read(file string, r io.Reader, take func(imports.Request) error) error {
	p := parser{file: file, lines: imports.NewLines(file, r, imports.MaxTarget), take: take}
	for p.lines.Next() {
		if at := p.lines.Binary(); at > 0 {
			return p.lines.Fault(at, "has a byte that no file of targets has")
		}
		text := strings.TrimSpace(p.lines.Text())
		var err error
		switch {
		case strings.HasPrefix(text, "#"):
		case strings.HasPrefix(text, "{") && p.target == nil && !p.plain:
			err = p.json(text)
		default:
			err = p.text(text)
		}
		if err != nil {
			return err
		}
	}
	if err := p.lines.Err(); err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return err
	}
	if p.count == 0 {
		return fault.Fault{File: file, Problem: "has no target; write one, as GET http://localhost:8080/"}
	}
	return nil
}

// A parser reads one file.
type parser struct {
	file   string
	lines  *imports.Lines
	plain  bool // the format is text
	take   func(imports.Request) error
	target *imports.Request // which is not complete; nil: there is none
	begun  int              // number of its line
	count  int
}

// text reads a line of the text format.
func (p *parser) text(line string) error {
	method, url, found := strings.Cut(line, " ")
	begins := found && method != "" && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
	switch {
	case line == "":
		return p.end()
	case begins:
		if err := p.end(); err != nil {
			return err
		}
		if url = strings.TrimSpace(url); !strings.Contains(url, "://") || strings.Contains(url, " ") {
			return p.lines.Fault(1, "%.60q is no target; write METHOD http://HOST/PATH", line)
		}
		p.target, p.begun = &imports.Request{Method: method, URL: url}, p.lines.Number()
		p.plain = true
		return nil
	case p.target == nil && p.plain:
		return p.lines.Fault(1, "%.60q is no target, METHOD http://HOST/PATH; a body is in a file, @FILE",
			line)
	case p.target == nil:
		return p.lines.Fault(1, "%.60q is no target; write METHOD http://HOST/PATH", line)
	case p.target.Body != nil:
		return p.lines.Fault(1, "%.60q follows the body, which ends a target", line)
	case strings.HasPrefix(line, "@"):
		body, err := readBody(line[1:])
		if err != nil {
			return p.lines.Fault(1, "%s", fault.Text(err))
		}
		p.target.Body = body
		return nil
	}
	name, value, found := strings.Cut(line, ":")
	if !found {
		return p.lines.Fault(1, "%.60q is no header; write NAME: VALUE", line)
	}
	p.add(strings.TrimSpace(name), strings.TrimSpace(value))
	return nil
}

// add adds a header to the target, but for those that dyno writes itself.
func (p *parser) add(name, value string) {
	switch strings.ToLower(name) {
	case "content-length", "transfer-encoding", "connection":
	default:
		p.target.Header = append(p.target.Header, proto.Field{Name: name, Value: value})
	}
}

// readBody reads a file that is a body.
func readBody(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := imports.ReadAll(name, f)
	if body == nil {
		body = []byte{}
	}
	return body, err
}

// end gives the target away that is now complete.
func (p *parser) end() error {
	if p.target == nil {
		return nil
	}
	err := p.take(*p.target)
	p.target = nil
	p.count++
	if err != nil {
		return fault.Fault{File: p.file, Line: p.begun, Problem: "the target " + err.Error()}
	}
	return nil
}

// json reads a target that is a line of JSON.
func (p *parser) json(line string) error {
	var t struct {
		Method, URL string
		Body        string
		Header      map[string][]string
	}
	if err := json.Unmarshal([]byte(line), &t); err != nil {
		if s, is := errors.AsType[*json.SyntaxError](err); is {
			return p.lines.Fault(int(s.Offset), "is no JSON: %v", err)
		}
		if u, is := errors.AsType[*json.UnmarshalTypeError](err); is {
			return p.lines.Fault(int(u.Offset), "%s is a %s", strings.ToLower(u.Field), u.Value)
		}
		return p.lines.Fault(1, "%v", err)
	}
	if t.Method == "" || t.URL == "" {
		return p.lines.Fault(1, `has no "method" or no "url"`)
	}
	p.target, p.begun = &imports.Request{Method: t.Method, URL: t.URL}, p.lines.Number()
	var names []string
	for name := range t.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range t.Header[name] {
			p.add(name, value)
		}
	}
	if t.Body != "" {
		body, err := base64.StdEncoding.DecodeString(t.Body)
		if err != nil {
			return p.lines.Fault(1, "its body is not base64: %v", fmt.Errorf("%w", err))
		}
		p.target.Body = body
	}
	return p.end()
}
