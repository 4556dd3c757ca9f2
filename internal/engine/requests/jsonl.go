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
	"time"
	"unicode/utf8"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/fault"
)

// Read reads one request a line, each a JSON object of these keys:
//
//	method   a string; GET, or POST with a body, even an empty one
//	url      a path, or a URL of the run's own origin; the run's own
//	headers  {"Name": "value"}, a value being a list for a header sent twice,
//	         or ["Name: value"]; those of the defaults with other names follow
//	body     a string, or an object or a list, which is sent as it is written; none
//	body_base64  instead of it, a string in base64: a body that is not text, and has no holes
//	weight   an integer from 1 to MaxWeight, its share of what is sent; 1
//	name     a string, of its route in the result; the method and path
//	at_s     a number, seconds after the start of the load at which it is due, once: of all
//	         requests of the file or of none, in ascending order
//	expect_status  the statuses of right responses, as 404 or "2xx,404", or a list of such, in place
//	               of those of the whole run
//	expect_body    a check of its responses, or a list of them, as --expect-body takes it, in place
//	               of those of the whole run
//	expect_header  likewise, as --expect-header takes it
//
// Other keys are faults. Empty lines say nothing. The url, values of headers and the body can have
// holes: see Defaults.Names.
func Read(file string, r io.Reader, d Defaults) ([]loadplan.Request, error) {
	b := builder{Defaults: d, header: d.mergedHeader(nil, d.URL.Basic)}
	err := eachLine(file, r, func(line []byte) error {
		line = bytes.TrimRight(line, " \t\r")
		if len(line) == 0 {
			return nil
		}
		e, err := parseEntry(line, d)
		if err != nil {
			return err
		}
		if err := b.checkTime(e); err != nil {
			return err
		}
		return b.addRequest(e)
	})
	if err == nil && len(b.done) == 0 {
		err = fault.Fault{File: file, Problem: `has no request; write one a line, as in {"url": "/"}`}
	}
	return b.done, err
}

// parseEntry parses a line. Its errors contain the column.
func parseEntry(line []byte, d Defaults) (entry, error) {
	e := entry{url: d.URL, weight: 1, names: d.Names}
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
	err := eachMember(line, func(key string, value json.RawMessage, at int) error {
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
		e.column = at + 1
		return set(&e, value)
	})
	if err != nil {
		return e, err
	}
	return e, errors.Join(append(e.holes, e.checkComplete())...)
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

// eachMember calls each with the members of an object, in order, until it fails: with the key, the
// value, and how many bytes are before that. It adds the member's column to the error.
func eachMember(object []byte, each func(key string, value json.RawMessage, at int) error) error {
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
		at := int(dec.InputOffset()) - len(value)
		if err := each(key.(string), value, at); err != nil { // only a string can be a key
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
			e.checkHoles(s, v, 0)
		}
		return err
	},
	"headers": func(e *entry, v json.RawMessage) (err error) {
		e.header, err = e.parseHeaders(v)
		return err
	},
	"body": func(e *entry, v json.RawMessage) error {
		if v[0] == '{' || v[0] == '[' {
			e.body = v
			e.holes = append(e.holes, checkHoles(e.names, string(v), func(before int) int {
				return e.column + before
			}))
			return nil
		}
		s, err := parseText("body", v)
		if err != nil {
			return fmt.Errorf("body is %s; a string, an object or a list is wanted", jsonKind(v))
		}
		e.body = []byte(s)
		e.checkHoles(s, v, 0)
		return nil
	},
	"body_base64": func(e *entry, v json.RawMessage) error {
		s, err := parseText("body_base64", v)
		if err == nil {
			e.raw = true
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
	"timeout": func(e *entry, v json.RawMessage) error {
		s, err := parseText("timeout", v)
		if err != nil {
			s = string(v) + "s" // a number
		}
		d, err := time.ParseDuration(s)
		if err != nil || d < time.Millisecond || d > loadplan.MaxTime {
			return fmt.Errorf("timeout %.80s is not a duration from 1ms to %v, as \"500ms\"; a number is "+
				"in seconds", v, loadplan.MaxTime)
		}
		e.timeout = d
		return nil
	},
	"name": func(e *entry, v json.RawMessage) (err error) {
		e.name, err = parseText("name", v)
		return err
	},
	"expect_status": func(e *entry, v json.RawMessage) (err error) {
		e.expect.Status, err = parseStatuses(v)
		return err
	},
	"expect_body": func(e *entry, v json.RawMessage) (err error) {
		e.expect.Body, err = parseExpectations("expect_body", v, ExpectBody)
		return err
	},
	"expect_header": func(e *entry, v json.RawMessage) (err error) {
		e.expect.Header, err = parseExpectations("expect_header", v, ExpectHeader)
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

// checkHoles notes the faults of a text's holes. It is the JSON string quoted, which begins so many
// bytes after the value of the key.
func (e *entry) checkHoles(text string, quoted json.RawMessage, after int) {
	e.holes = append(e.holes, checkHoles(e.names, text, jsonColumn(quoted, e.column+after)))
}

func (e *entry) parseHeaders(v json.RawMessage) ([]proto.Field, error) {
	switch v[0] {
	case '{':
		return e.headerObject(v)
	case '[':
		return e.headerList(v)
	}
	return nil, fmt.Errorf(`headers is %s; {"Name": "value"} or ["Name: value"] is wanted`,
		jsonKind(v))
}

func (e *entry) headerObject(v json.RawMessage) ([]proto.Field, error) {
	fields := []proto.Field{}
	err := eachMember(v, func(name string, value json.RawMessage, at int) error {
		values, err := e.parseTexts(name, value, at)
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

func (e *entry) headerList(v json.RawMessage) ([]proto.Field, error) {
	fields := []proto.Field{}
	list, err := e.parseTexts("headers", v, 0)
	for _, s := range list {
		f, err := Field(s)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, err
}

// parseTexts parses a string or a list of strings, which begins so many bytes after the value of
// e's key. It notes the faults of their holes.
func (e *entry) parseTexts(key string, v json.RawMessage, after int) ([]string, error) {
	raw, at := []json.RawMessage{v}, []int{after}
	if v[0] == '[' {
		raw, at = nil, nil
		d := json.NewDecoder(bytes.NewReader(v))
		if _, err := d.Token(); err != nil { // the bracket
			return nil, err
		}
		for d.More() {
			var one json.RawMessage
			if err := d.Decode(&one); err != nil {
				return nil, err
			}
			raw, at = append(raw, one), append(at, after+int(d.InputOffset())-len(one))
		}
	}
	var all []string
	for i, v := range raw {
		s, err := parseText(key, v)
		if err != nil {
			return nil, err
		}
		e.checkHoles(s, v, at[i])
		all = append(all, s)
	}
	return all, nil
}
