package hurl

import (
	"regexp"
	"slices"
	"strings"

	"dyno/internal/lazyregexp"
)

// An argument is what follows the name of a query, a filter or a predicate.
type argument uint8

const (
	nothing     argument = iota
	quoted               // text in quotes
	pattern              // text in quotes, or a regular expression between slashes
	cookiePath           // "name" or "name[Attribute]"
	certificate          // the name of a field in quotes
	integer
	two        // two texts in quotes
	patternAnd // a pattern and a text
)

// queries are those there are.
var queries = map[string]argument{
	"status": nothing, "version": nothing, "url": nothing, "header": quoted, "cookie": cookiePath,
	"body": nothing, "xpath": quoted, "jsonpath": quoted, "regex": pattern, "variable": quoted,
	"duration": nothing, "bytes": nothing, "rawbytes": nothing, "sha256": nothing, "md5": nothing,
	"certificate": certificate, "ip": nothing, "redirects": nothing,
}

var cookieAttributes = []string{"value", "expires", "max-age", "domain", "path", "secure",
	"httponly", "samesite"}

var certificateFields = []string{"Subject", "Issuer", "Start-Date", "Expire-Date",
	"Serial-Number", "Subject-Alt-Name", "Value"}

// query reads a query if its name comes next.
func (p *parser) query() (q Query, ok bool) {
	at := p.at
	name := p.takeWhile(isAlphaNum)
	takes, is := queries[name]
	if !is {
		p.at = at
		return q, false
	}
	q = Query{Pos: p.pos(at), Name: name}
	switch takes {
	case quoted:
		p.gap()
		q.Text = p.quotedText()
	case pattern:
		p.gap()
		q.Text, q.Pattern = p.pattern()
	case cookiePath:
		p.gap()
		q.Text, q.Attribute = p.cookiePath()
	case certificate:
		p.gap()
		at := p.at
		field, _ := p.quotedText().Literal()
		if p.fault == nil && !slices.Contains(certificateFields, field) {
			p.fail(at, "a certificate has the fields %s", strings.Join(certificateFields, ", "))
		}
		q.Attribute = strings.ToLower(field)
	}
	return q, true
}

// pattern reads a regular expression: between slashes, or as a text.
func (p *parser) pattern() (t Template, re *Pattern) {
	if p.peek() == '/' {
		return t, p.slashed()
	}
	t, ok := p.quoted('"')
	if !ok {
		p.fail(p.at, "a regular expression is expected here, in quotes or between slashes")
	}
	return t, nil
}

// slashed reads a regular expression between slashes.
func (p *parser) slashed() *Pattern {
	at := p.at
	p.expect("/")
	var b strings.Builder
	for !p.take("/") {
		switch {
		case p.at == len(p.text):
			p.fail(p.at, "the regular expression is not closed by /")
			return nil
		case p.take(`\/`):
			b.WriteByte('/')
			continue
		}
		b.WriteByte(p.text[p.at])
		p.at++
	}
	re, err := regexp.Compile(b.String())
	if err != nil {
		p.fail(at+1, "%v", err)
	} else if hasLooseBrace(b.String()) {
		p.fail(at+1, `{ stands before a number of repetitions, as a{2,3}; write \{ for a brace`)
	}
	return &Pattern{p.pos(at), re}
}

// repetition is how often something is repeated.
var repetition = lazyregexp.New(`^\{\d+(,\d*)?\}`)

// hasLooseBrace reports whether a regular expression has a { that Go takes for itself, and hurl
// does not take.
func hasLooseBrace(re string) bool {
	inClass := false
	for i := 0; i < len(re); i++ {
		switch c := re[i]; {
		case c == '\\' && i+2 < len(re) && strings.IndexByte("xpP", re[i+1]) >= 0 && re[i+2] == '{':
			i += 2
		case c == '\\':
			i++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '{' && !inClass && !repetition().MatchString(re[i:]):
			return true
		}
	}
	return false
}

// cookiePath reads "name" or "name[Attribute]".
func (p *parser) cookiePath() (name Template, attribute string) {
	at := p.at
	p.expect(`"`)
	inside := p.takeWhile(func(c byte) bool { return c != '"' && c != '\n' })
	end := p.at
	p.expect(`"`)
	if p.fault != nil {
		return name, ""
	}
	path, rest, has := strings.Cut(inside, "[")
	inner := *p
	inner.text, inner.at = p.text[:at+1+len(path)], at+1
	name = inner.unquoted()
	switch {
	case inner.fault != nil:
		p.fault, p.at = inner.fault, len(p.text)
		return name, ""
	case !has:
		return name, ""
	}
	attribute = strings.ToLower(strings.Trim(strings.TrimSuffix(rest, "]"), " \t"))
	if !strings.HasSuffix(rest, "]") || !slices.Contains(cookieAttributes, attribute) {
		p.fail(min(at+len(path)+2, end), "a cookie has the attributes Value, Expires, Max-Age, "+
			"Domain, Path, Secure, HttpOnly and SameSite, as in \"name[Path]\"")
	}
	return name, attribute
}
