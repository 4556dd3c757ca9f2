package hurl

import (
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep JSON may be nested. It is hurl's limit.
const maxDepth = 128

// A jsonReader reads JSON in which values and parts of strings may be expressions, to a template.
type jsonReader struct {
	*parser
	keepSpace bool
	out       builder
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// jsonAhead reports whether JSON comes next.
func (p *parser) jsonAhead() bool {
	s := p.rest()
	switch c := p.peek(); {
	case c == '"' || c == '{' || c == '[' || isDigit(c):
		return true
	case c == '-':
		return len(s) > 1 && isDigit(s[1])
	}
	return strings.HasPrefix(s, "true") || strings.HasPrefix(s, "false") ||
		strings.HasPrefix(s, "null")
}

// space reads white space.
func (j *jsonReader) space() {
	if s := j.takeWhile(isJSONSpace); j.keepSpace {
		j.out.text.WriteString(s)
	}
}

// copies reads s, if that comes next, and copies it.
func (j *jsonReader) copies(s string) bool {
	if !j.take(s) {
		return false
	}
	j.out.text.WriteString(s)
	return true
}

// value reads a value at a depth.
func (j *jsonReader) value(depth int) {
	switch c := j.peek(); {
	case j.fault != nil:
	case j.take("{{"):
		j.out.addExpr(j.expr(), InJSON)
	case j.copies("null") || j.copies("true") || j.copies("false"):
	case c == '"':
		j.string()
	case c == '-' || isDigit(c):
		j.number()
	case c == '[':
		j.container('[', ']', depth)
	case c == '{':
		j.container('{', '}', depth)
	default:
		j.fail(j.at, "a JSON value is expected here")
	}
}

// container reads an object or a list.
func (j *jsonReader) container(open, end byte, depth int) {
	if depth >= maxDepth {
		j.fail(j.at, "the JSON is nested deeper than %d", maxDepth)
	}
	j.copies(string(open))
	if j.space(); j.copies(string(end)) {
		return
	}
	for j.fault == nil {
		j.space()
		if open == '{' {
			j.name(end)
		}
		j.value(depth + 1)
		j.space()
		if j.copies(string(end)) {
			return
		}
		comma := j.at
		if !j.copies(",") {
			j.fail(j.at, "a comma or %c is expected here", end)
		} else if j.nextIs(end) {
			j.fail(comma, "no comma stands before %c", end)
		}
	}
}

// name reads the name of a member of an object that ends with a byte, and the colon behind it.
func (j *jsonReader) name(end byte) {
	if j.peek() != '"' {
		j.fail(j.at, "a name in quotes is expected here")
	}
	j.string()
	if j.space(); !j.copies(":") {
		j.fail(j.at, ": is expected here")
	}
	value := j.at
	if j.space(); j.fault == nil && (j.at == len(j.parser.text) || j.peek() == end) {
		j.fail(value, "a JSON value is expected here")
	}
}

// nextIs reports whether a byte comes next, behind white space.
func (j *jsonReader) nextIs(c byte) bool {
	rest := strings.TrimLeft(j.rest(), " \t\n\r")
	return rest != "" && rest[0] == c
}

// string reads a string. Its escapes stay as they are.
func (j *jsonReader) string() {
	j.copies(`"`)
	for j.at < len(j.text) && j.text[j.at] != '"' {
		from := j.at
		switch c := j.text[j.at]; {
		case j.take("{{"):
			j.out.addExpr(j.expr(), InJSONString)
			continue
		case c == '\\':
			j.at++
			j.jsonEscape()
		case strings.IndexByte(ended, c) >= 0:
			j.fail(j.at, "a string in JSON has no line end, tab or the like; write \\n or \\t")
			return
		default:
			_, n := utf8.DecodeRuneInString(j.rest())
			j.at += n
		}
		if j.fault == nil {
			j.out.text.WriteString(j.text[from:j.at])
		}
	}
	if !j.copies(`"`) {
		j.fail(j.at, "the string is not closed by a quote")
	}
}

// jsonEscape reads what follows a backslash.
func (j *jsonReader) jsonEscape() {
	at := j.at
	c := j.peek()
	j.at = min(j.at+1, len(j.text))
	switch {
	case c != 0 && strings.IndexByte(`"\/bfnrt`, c) >= 0:
	case c != 'u':
		j.fail(at, "a backslash cannot stand before this character in JSON")
	default:
		first := j.hex4()
		if first < 0xd800 || first > 0xdfff {
			return
		}
		j.expect(`\u`)
		if second := j.hex4(); first > 0xdbff || second < 0xdc00 || second > 0xdfff {
			j.fail(at, "these are no two halves of a character")
		}
	}
}

func (j *jsonReader) hex4() (v int) {
	for range 4 {
		d, ok := hexDigit(j.peek())
		if !ok {
			j.fail(j.at, "four hexadecimal digits are expected here")
			return 0
		}
		v = v<<4 | int(d)
		j.at++
	}
	return v
}

// number reads a number. Its exponent is written with e.
func (j *jsonReader) number() {
	j.copies("-")
	digits := func(what string) {
		s := j.takeWhile(isDigit)
		if s == "" {
			j.fail(j.at, "%s is expected here", what)
		}
		j.out.text.WriteString(s)
	}
	if !j.copies("0") {
		digits("a number")
	}
	if j.copies(".") {
		digits("a digit")
	}
	if j.take("e") || j.take("E") {
		j.out.text.WriteByte('e')
		if !j.copies("-") {
			j.copies("+")
		}
		digits("a digit")
	}
}
