package hurl

import "strings"

// A setting is what the value of an option has to be.
type setting uint8

const (
	anyText setting = iota
	aFile
	aFileAndPassword
	aBoolean
	aDuration
	aCount // from -1 on, which is for ever
	aNatural
	aVariable
	aVerbosity
)

// settings are the options there are.
var settings = map[string]setting{
	"aws-sigv4": anyText, "cacert": aFile, "cert": aFileAndPassword, "compressed": aBoolean,
	"connect-to": anyText, "connect-timeout": aDuration, "delay": aDuration, "digest": aBoolean,
	"fail-with-body": aBoolean, "insecure": aBoolean, "header": anyText, "http1.0": aBoolean,
	"http1.1": aBoolean, "http2-prior-knowledge": aBoolean, "http2": aBoolean, "http3": aBoolean,
	"ipv4": aBoolean, "ipv6": aBoolean, "key": aFile, "limit-rate": aNatural, "location": aBoolean,
	"location-trusted": aBoolean, "max-redirs": aCount, "max-time": aDuration,
	"negotiate": aBoolean, "netrc": aBoolean, "netrc-file": anyText, "netrc-optional": aBoolean,
	"no-header": anyText, "no-jsonpath-coercion": aBoolean, "no-proxy": anyText,
	"ntlm": aBoolean, "output": aFile,
	"path-as-is": aBoolean, "pinnedpubkey": anyText, "proxy": anyText, "repeat": aCount,
	"resolve": anyText, "retry": aCount, "retry-interval": aDuration, "skip": aBoolean,
	"tls-max": anyText, "tls-min": anyText, "unix-socket": anyText, "user": anyText,
	"variable": aVariable, "verbose": aBoolean, "verbosity": aVerbosity, "very-verbose": aBoolean,
}

func (p *parser) options() (all []Option) {
	for p.ahead(func() bool {
		at := p.at
		name := p.takeWhile(func(c byte) bool {
			return isAlphaNum(c) || strings.IndexByte("-._", c) >= 0
		})
		if p.spaces(); !p.take(":") {
			return false
		}
		p.spaces()
		kind, is := settings[name]
		if !is {
			p.fail(at, "%.40q is no option", name)
			return true
		}
		o := Option{Pos: p.pos(at), Name: name}
		p.optionValue(&o, kind)
		p.lineEnd()
		all = append(all, o)
		return true
	}) {
	}
	return all
}

func (p *parser) optionValue(o *Option, kind setting) {
	at := p.at
	switch {
	case kind == aFile:
		o.Value = p.filename()
		return
	case kind == aFileAndPassword:
		o.Value = p.filenameEscaping(":")
		return
	case kind == anyText:
		o.Value = p.unquoted()
		return
	case kind == aVariable:
		p.variable(o)
		return
	case kind != aVerbosity && p.take("{{"):
		o.Value = Template{p.pos(at), []Piece{{Expr: p.expr()}}}
		return
	}
	switch kind {
	case aBoolean:
		p.oneOf("true", "false")
	case aVerbosity:
		p.oneOf("brief", "verbose", "debug")
	case aCount:
		if p.integer() < -1 {
			p.fail(at, "a count from -1 on is expected here")
		}
	case aNatural, aDuration:
		if p.integer() < 0 {
			p.fail(at, "a number from 0 on is expected here")
		}
		if kind == aDuration {
			p.unit()
		}
	}
	if p.fault == nil {
		o.Value = Template{p.pos(at), []Piece{{Text: p.text[at:p.at]}}}
	}
}

// oneOf reads one of the words.
func (p *parser) oneOf(words ...string) {
	for _, w := range words {
		if p.take(w) {
			return
		}
	}
	p.fail(p.at, "%s is expected here", strings.Join(words, " or "))
}

// unit reads the unit of a duration, which may be missing.
func (p *parser) unit() {
	at := p.at
	switch u := p.takeWhile(isAlpha); u {
	case "", "ms", "s", "m", "h":
	default:
		p.fail(at, "%.20q is no unit: ms, s, m and h are", u)
	}
}

// variable reads name=value.
func (p *parser) variable(o *Option) {
	at := p.at
	e := 0
	for i, r := range p.rest() {
		if !isNameRune(r) {
			break
		}
		e = i + len(string(r))
	}
	o.Variable = p.text[at : at+e]
	p.at += e
	switch {
	case o.Variable == "":
		p.fail(at, "a variable's name is expected here")
	case IsFunction(o.Variable):
		p.fail(at, "%q is the name of a function; choose another name", o.Variable)
	}
	p.spaces()
	p.expect("=")
	p.spaces()
	at = p.at
	if o.Literal = p.literal(); o.Literal {
		o.Value = Template{p.pos(at), []Piece{{Text: p.text[at:p.at]}}}
		return
	}
	quoted := false
	if o.Value, quoted = p.quoted('"'); !quoted && p.fault == nil {
		o.Value = p.unquoted()
	}
}

// literal reads null, a boolean or a number, if the text begins with one.
func (p *parser) literal() bool {
	digits := strings.TrimPrefix(p.rest(), "-")
	switch {
	case p.take("null"), p.take("true"), p.take("false"):
	case digits != "" && isDigit(digits[0]):
		p.number()
	default:
		return false
	}
	return p.fault == nil
}
