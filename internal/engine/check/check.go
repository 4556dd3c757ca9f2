// Package check has the checks of --expect-body and --expect-header: what they want of a response.
//
//	check.go    contains, regex, sha256, json; header fields (limits: engine/scenario/limits.go)
//	number.go   are two numbers of JSON equal?
package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"dyno/internal/engine/jsonpath"
	"dyno/internal/engine/jsonscan"
	"dyno/internal/engine/scenario"
)

// A Check is one expectation. It does not change, so that all workers can use it.
type Check struct {
	name  string // as it was written
	field string // in lower case: of a header; "": of the body

	text   []byte // contained in the body, or the value of the field
	any    bool   // of the field: whatever its value
	regex  *regexp.Regexp
	size   int            // instructions of regex
	within *regexp.Regexp // for a body that was cut: matches only where regex does, whatever follows
	sum    *[sha256.Size]byte
	path   *jsonpath.Path
	equals *value // what a value at path is; nil: there is one
}

// A value is one that the user wrote.
type value struct {
	text    []byte // as written, without the quotes of a string
	quoted  bool   // it had some: only a string is equal
	number  number
	numeric bool
	decoded any // of an object or a list
}

// Scratch is the memory of one worker's checks.
type Scratch struct {
	Exceeded bool // by the last check: it took more than the limits of package scenario
	Steps    int  // of the last check's search

	values [][]byte
	text   []byte
}

// ParseBody parses what --expect-body takes:
//
//	contains:TEXT      the body contains TEXT
//	regex:RE           the body matches RE, in the syntax of package regexp
//	sha256:HEX         the body has that SHA-256
//	json:PATH          the body is JSON, and PATH (RFC 9535) selects something in it
//	json:PATH==VALUE   the body is JSON, and one of the values that PATH selects is VALUE
//
// VALUE is JSON, or a string without its quotes. Numbers are equal if all their digits are, however
// they are written: 1.0 and 1e0 are 1, and 9007199254740992 is not 9007199254740993, as it would be
// in JavaScript. A string is equal to VALUE as it is written, too: the string "1" is 1, but the
// number 1 is not "1".
func ParseBody(s string) (*Check, error) {
	kind, rest, found := strings.Cut(s, ":")
	c := &Check{name: s}
	var err error
	switch {
	case !found || rest == "":
		err = fmt.Errorf("%.60q is not contains:TEXT, regex:RE, sha256:HEX or json:PATH[==VALUE]", s)
	case kind == "contains":
		c.text = []byte(rest)
	case kind == "regex":
		if err = c.parseRegex(rest); err != nil {
			err = fmt.Errorf("regex:%.60s: %w", rest, err)
		}
	case kind == "sha256":
		var sum []byte
		if sum, err = hex.DecodeString(rest); err != nil || len(sum) != sha256.Size {
			err = fmt.Errorf("sha256:%.80s is not 64 hexadecimal digits, as sha256sum prints them", rest)
			break
		}
		c.sum = (*[sha256.Size]byte)(sum)
	case kind == "json":
		err = c.parseJSON(rest)
	default:
		err = fmt.Errorf("%.20q is not contains, regex, sha256 or json; contains:TEXT looks for any text",
			kind)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// ParseHeader parses what --expect-header takes: "Name: value", which one of the fields of that
// name has to have, or "Name", of which there has to be one.
func ParseHeader(s string) (*Check, error) {
	name, v, found := strings.Cut(s, ":")
	name = strings.TrimSpace(name)
	if !httpguts.ValidHeaderFieldName(name) {
		return nil, fmt.Errorf("%.60q is not 'Name: value' or 'Name'", s)
	}
	return &Check{name: s, field: strings.ToLower(name), text: []byte(strings.TrimSpace(v)),
		any: !found}, nil
}

// parseRegex sets regex and within. A match of most expressions stays one whatever follows. One
// that looks at what follows it, as $ and \b do, has to end before a character that is there.
func (c *Check) parseRegex(s string) (err error) {
	if c.regex, err = regexp.Compile(s); err != nil {
		return err
	}
	c.within, c.size = c.regex, scenario.Instructions(c.regex)
	tree, err := syntax.Parse(s, syntax.Perl)
	if err != nil || !looksAhead(tree) {
		return err
	}
	before := &syntax.Regexp{Op: syntax.OpConcat,
		Sub: []*syntax.Regexp{tree, {Op: syntax.OpAnyChar}}}
	c.within, err = regexp.Compile(before.String())
	return err
}

// looksAhead reports whether an expression depends on what follows a match.
func looksAhead(e *syntax.Regexp) bool {
	switch e.Op {
	case syntax.OpEndLine, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(e.Sub, looksAhead)
}

func (c *Check) parseJSON(s string) (err error) {
	path := s
	if i := equalsAt(s); i >= 0 {
		path = s[:i]
		c.equals = parseValue(s[i+2:])
	}
	c.path, err = jsonpath.Parse(strings.TrimSpace(path))
	return err
}

// equalsAt is where == stands behind the path: in no bracket and no quote. -1: nowhere.
func equalsAt(s string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case depth > 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], "=="):
			return i
		}
	}
	return -1
}

func parseValue(s string) *value {
	s = strings.TrimSpace(s)
	v := &value{text: []byte(s)}
	if !json.Valid(v.text) {
		return v
	}
	switch s[0] {
	case '"':
		v.text, v.quoted = jsonscan.AppendUnquoted(nil, v.text), true
	case '{', '[':
		v.decoded = decode(v.text)
	case 't', 'f', 'n':
	default:
		v.number, v.numeric = parseNumber(v.text)
	}
	return v
}

// Name is the check as it was written.
func (c *Check) Name() string { return c.name }

// Field is the name of the field that the check needs, in lower case; "" if it needs the body.
func (c *Check) Field() string { return c.field }

// Passes reports whether the response is as expected. It is sure, too, unless what there is of a
// truncated body does not tell; then it does not pass. The end of what there is is not the body's.
func (c *Check) Passes(r *scenario.Response, s *Scratch) (passes, sure bool) {
	s.Exceeded = c.regex != nil && len(r.Body) > scenario.MaxSteps/c.size
	s.Steps = max(c.size, scenario.NodeSteps) * len(r.Body)
	switch {
	case c.field != "":
		return c.passesField(r), true
	case s.Exceeded:
		return false, true
	case c.regex != nil && r.Truncated():
		passes = c.within.Match(wholeCharacters(r.Body))
		return passes, passes
	case c.regex != nil:
		return c.regex.Match(r.Body), true
	case c.path == nil && c.sum == nil:
		passes = bytes.Contains(r.Body, c.text)
		return passes, passes || !r.Truncated()
	case r.Truncated():
		return false, false
	case c.sum != nil:
		return sha256.Sum256(r.Body) == *c.sum, true
	}
	return c.passesJSON(r.Body, s), true
}

// wholeCharacters is a text that was cut, without the bytes of a character that it has in part.
func wholeCharacters(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

func (c *Check) passesField(r *scenario.Response) bool {
	for i := range r.Fields() {
		name, value, _ := r.FieldAt(i)
		if string(name) == c.field && (c.any || bytes.Equal(bytes.TrimSpace(value), c.text)) {
			return true
		}
	}
	return false
}

func (c *Check) passesJSON(body []byte, s *Scratch) bool {
	var err error
	if s.values, err = c.path.Select(s.values[:0], body); err != nil {
		s.Exceeded = errors.Is(err, scenario.ErrLimits)
		return false
	}
	if c.equals == nil {
		return len(s.values) > 0
	}
	for _, v := range s.values {
		if c.equals.is(v, s) {
			return true
		}
	}
	return false
}

// is reports whether a JSON text is the value.
func (v *value) is(text []byte, s *Scratch) bool {
	switch text[0] {
	case '"':
		s.text = jsonscan.AppendUnquoted(s.text[:0], text)
		return bytes.Equal(s.text, v.text)
	case '{', '[':
		if v.decoded == nil || !scenario.JSONFits(text) {
			s.Exceeded = v.decoded != nil
			return false
		}
		return same(decode(text), v.decoded)
	}
	if v.quoted {
		return false
	}
	if bytes.Equal(text, v.text) {
		return true
	}
	if !v.numeric || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	n, ok := parseNumber(text)
	return ok && n.equals(v.number)
}
