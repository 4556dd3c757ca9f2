package hurl

import (
	"slices"
	"strconv"
	"strings"
)

// compares says which kinds of values a predicate takes; nil: all.
type compares []ValueKind

var ordered = compares{Number, Text, Held}

// predicates are those that compare with a value.
var predicates = map[string]compares{
	"==": nil, "!=": nil, ">": ordered, ">=": ordered, "<": ordered, "<=": ordered,
	"startsWith": {Text, Bytes}, "endsWith": {Text, Bytes}, "contains": nil, "includes": nil,
	"matches": {Text, Regex},
}

// conditions are the predicates without a value.
var conditions = []string{"isInteger", "isFloat", "isBoolean", "isString", "isCollection", "isList",
	"isObject", "isDate", "isIsoDate", "exists", "isEmpty", "isNumber", "isIpv4", "isIpv6", "isUuid"}

// predicate reads a predicate.
func (p *parser) predicate() (r Predicate) {
	from := p.at
	if p.take("not") && isSpace(p.peek()) {
		r.Not = true
		p.spaces()
	} else if p.fault == nil {
		p.at = from
	}
	at := p.at
	r.Pos = p.pos(at)
	if r.Name = p.takeWhile(isAlphaNum); r.Name == "" {
		r.Name = p.takeWhile(func(c byte) bool { return strings.IndexByte("=!<>", c) >= 0 })
	}
	takes, is := predicates[r.Name]
	switch {
	case slices.Contains(conditions, r.Name):
		return r
	case !is:
		p.fail(at, "%.40q is no predicate: ==, !=, >, >=, <, <=, contains, startsWith, endsWith, "+
			"matches, exists, isEmpty and the like are", firstLine(p.text[at:]))
		return r
	case isAlpha(r.Name[0]):
		p.gap()
	default:
		p.spaces()
	}
	at = p.at
	r.Value = p.value()
	if p.fault == nil && takes != nil && (!slices.Contains(takes, r.Value.Kind) || r.Value.Raw) {
		p.fail(at, "%s does not compare with such a value", r.Name)
	}
	return r
}

// value reads the value of a predicate.
func (p *parser) value() (v Value) {
	at := p.at
	v.Pos = p.pos(at)
	switch c := p.peek(); {
	case p.take("null"):
		v.Kind = Null
	case p.take("true"):
		v.Kind, v.Bool = Bool, true
	case p.take("false"):
		v.Kind = Bool
	case c == '-' || isDigit(c):
		v.Kind = Number
		v.Text = Template{v.Pos, []Piece{{Text: p.number()}}}
	case p.take("file"):
		v.Kind, v.Text = Content, p.fileRest()
	case strings.HasPrefix(p.rest(), "hex"), strings.HasPrefix(p.rest(), "base64"):
		v.Kind, v.Bytes = Bytes, p.binary()
	case p.take("{{"):
		v.Kind = Held
		v.Text = Template{v.Pos, []Piece{{Expr: p.expr()}}}
	case strings.HasPrefix(p.rest(), "```"):
		v.Kind, v.Raw = Text, true
		v.Text, _, _ = p.multiline()
	case c == '"' || c == '`':
		v.Kind = Text
		v.Text, _ = p.quoted(c)
	case c == '/':
		v.Kind, v.Pattern = Regex, p.slashed()
	default:
		p.fail(at, "a value is expected here: text in quotes, a number, true, false, null, /regex/, "+
			"hex,...; base64,...; or file,...;")
	}
	return v
}

// number reads a number, whose fraction has digits.
func (p *parser) number() string {
	from := p.at
	p.take("-")
	at := p.at
	digits := p.takeWhile(isDigit)
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		p.fail(at, "a number without zeros before it is expected here")
	}
	if p.take(".") && p.takeWhile(isDigit) == "" {
		p.fail(p.at, "a digit is expected here")
	}
	return p.text[from:p.at]
}

// integer reads an integer of 64 bits.
func (p *parser) integer() int64 {
	from := p.at
	p.take("-")
	at := p.at
	digits := p.takeWhile(isDigit)
	n, err := strconv.ParseInt(p.text[from:p.at], 10, 64)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		p.fail(at, "an integer is expected here")
	}
	return n
}
