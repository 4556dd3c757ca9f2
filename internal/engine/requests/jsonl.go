package requests

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// Read reads one request a line, each a JSON object of these keys:
//
//	method   a string; GET, or POST with a body, even an empty one
//	url      a path, or a URL of the run's own origin; the run's own
//	headers  {"Name": "value"}, a value being a list for a header sent twice,
//	         or ["Name: value"]; those of the defaults with other names follow
//	body     a string; none
//	body_base64  instead of it, a string in base64: a body that is not text
//	weight   an integer from 1 to MaxWeight, its share of what is sent; 1
//	name     a string, of its route in the result; the method and path
//	at_s     a number, seconds after the start of the load at which it is due, once: of all
//	         requests of the file or of none, in ascending order
//
// Other keys are faults. Empty lines say nothing.
func Read(file string, r io.Reader, d Defaults) ([]loadplan.Request, error) {
	b := builder{Defaults: d, header: d.mergedHeader(nil, d.URL.Basic)}
	err := eachLine(file, r, func(line []byte) error {
		line = bytes.TrimRight(line, " \t\r")
		if len(line) == 0 {
			return nil
		}
		e, err := parseEntry(line, d.URL)
		if err != nil {
			return err
		}
		if err := b.checkTime(e); err != nil {
			return err
		}
		return b.addRequest(e)
	})
	if err == nil && len(b.done) == 0 {
		err = Fault{File: file, Problem: `has no request; write one a line, as in {"url": "/"}`}
	}
	return b.done, err
}

// parseEntry parses a line. Its errors contain the column.
func parseEntry(line []byte, base URL) (entry, error) {
	e := entry{url: base, weight: 1}
	if i := invalidUTF8(line); i >= 0 {
		return e, atColumn{i + 1, errors.New("is not UTF-8")}
	}
	if bytes.TrimLeft(line, " \t")[0] != '{' {
		return e, atColumn{1, errors.New(`is not a JSON object, as in {"url": "/"}`)}
	}
	if err := syntaxError(line); err != nil {
		return e, err
	}
	seen := map[string]bool{}
	err := eachMember(line, func(key string, value json.RawMessage) error {
		set := setters[key]
		switch {
		case set == nil:
			return fmt.Errorf("unknown key %q; there are %s", key, keyNames())
		case seen[key]:
			return fmt.Errorf("key %q is given twice", key)
		}
		seen[key] = true
		if seen["body"] && seen["body_base64"] {
			return errors.New("body and body_base64 both say what to send")
		}
		return set(&e, value)
	})
	return e, errors.Join(err, e.checkComplete())
}

// checkTime reports a request whose time does not follow the last one's.
func (b *builder) checkTime(e entry) error {
	if len(b.done) > 0 && e.timed != b.timed {
		return errors.New("at_s is given in some lines and not in others; give it in all or in none")
	}
	b.timed = e.timed
	switch {
	case !e.timed:
		return nil
	case e.weight != 1:
		return errors.New("weight and at_s both say how often it is sent; with at_s it is once")
	case len(b.done) > 0 && e.at < b.done[len(b.done)-1].At:
		return fmt.Errorf("at_s is %v, and that of the request above is later, %v", e.at,
			b.done[len(b.done)-1].At)
	}
	return nil
}

// checkComplete reports a request that has marks in place of its secrets.
func (e entry) checkComplete() error {
	all := []error{Unmarked("the URL", e.url.Path), Unmarked("the body", string(e.body))}
	for _, f := range e.header {
		all = append(all, Unmarked("header "+f.Name, f.Value))
	}
	return errors.Join(all...)
}

// syntaxError is where and why line stops being JSON.
func syntaxError(line []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(line, &v)
	s, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case !ok:
		return err
	case strings.HasPrefix(s.Error(), "unexpected end"):
		return atColumn{len(line) + 1, errors.New("the line ends within the object")}
	}
	return atColumn{int(s.Offset), err}
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}

// eachMember calls each with the members of an object, in order, until it fails. It adds the
// member's column to the error.
func eachMember(object []byte, each func(key string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil { // the brace
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		column := bytes.LastIndexByte(object[:dec.InputOffset()-1], '"') + 1
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := each(key.(string), value); err != nil { // only a string can be a key
			return atColumn{column, err}
		}
	}
	return nil
}

// setters are the functions that set the value of each key.
var setters = map[string]func(*entry, json.RawMessage) error{
	"method": func(e *entry, v json.RawMessage) (err error) {
		e.method, err = parseText("method", v)
		if err == nil {
			err = Method(e.method)
		}
		return err
	},
	"url": func(e *entry, v json.RawMessage) error {
		s, err := parseText("url", v)
		switch {
		case err != nil:
		case s == "*": // OPTIONS may use it
			e.url.Path = s
		default:
			e.url, err = e.url.resolveReference(s)
		}
		return err
	},
	"headers": func(e *entry, v json.RawMessage) (err error) {
		e.header, err = parseHeaders(v)
		return err
	},
	"body": func(e *entry, v json.RawMessage) error {
		s, err := parseText("body", v)
		e.body = []byte(s)
		return err
	},
	"body_base64": func(e *entry, v json.RawMessage) error {
		s, err := parseText("body_base64", v)
		if err == nil {
			e.body, err = base64.StdEncoding.DecodeString(s)
		}
		if err != nil {
			return fmt.Errorf("body_base64: %w", err)
		}
		return nil
	},
	"weight": func(e *entry, v json.RawMessage) (err error) {
		e.weight, err = strconv.Atoi(string(v))
		if err != nil || e.weight < 1 || e.weight > MaxWeight {
			return fmt.Errorf("weight %.80s is not an integer from 1 to %d", v, MaxWeight)
		}
		return nil
	},
	"at_s": func(e *entry, v json.RawMessage) (err error) {
		f, err := strconv.ParseFloat(string(v), 64)
		if most := loadplan.MaxTime.Seconds(); err != nil || !(f >= 0 && f <= most) {
			return fmt.Errorf("at_s %.80s is not a number of seconds from 0 to %.0f", v, most)
		}
		e.at, e.timed = loadplan.Seconds(math.Round(f*1e9)), true
		return nil
	},
	"name": func(e *entry, v json.RawMessage) (err error) {
		e.name, err = parseText("name", v)
		return err
	},
}

func keyNames() string {
	var names []string
	for k := range setters {
		names = append(names, k)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func parseText(key string, v json.RawMessage) (s string, err error) {
	if err := json.Unmarshal(v, &s); err != nil || v[0] != '"' {
		return "", fmt.Errorf("%s is %s; a string is wanted", key, jsonKind(v))
	}
	return s, nil
}

// jsonKind describes the kind of a JSON value.
func jsonKind(v json.RawMessage) string {
	switch v[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f', 'n':
		return string(v)
	}
	return "a number"
}

func parseHeaders(v json.RawMessage) ([]proto.Field, error) {
	switch v[0] {
	case '{':
		return headerObject(v)
	case '[':
		return headerList(v)
	}
	return nil, fmt.Errorf(`headers is %s; {"Name": "value"} or ["Name: value"] is wanted`,
		jsonKind(v))
}

func headerObject(v json.RawMessage) ([]proto.Field, error) {
	fields := []proto.Field{}
	err := eachMember(v, func(name string, value json.RawMessage) error {
		values, err := parseTexts(name, value)
		for _, s := range values {
			f := proto.Field{Name: name, Value: s}
			if err := checkField(f); err != nil {
				return err
			}
			fields = append(fields, f)
		}
		return err
	})
	if at, ok := errors.AsType[atColumn](err); ok {
		err = at.error // a column in v, not in the line
	}
	return fields, err
}

func headerList(v json.RawMessage) ([]proto.Field, error) {
	fields := []proto.Field{}
	list, err := parseTexts("headers", v)
	for _, s := range list {
		f, err := Field(s)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, err
}

// parseTexts parses a string or a list of strings.
func parseTexts(key string, v json.RawMessage) ([]string, error) {
	if v[0] != '[' {
		s, err := parseText(key, v)
		return []string{s}, err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(v, &raw); err != nil {
		return nil, err
	}
	var all []string
	for _, v := range raw {
		s, err := parseText(key, v)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
