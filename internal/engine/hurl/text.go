package hurl

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dyno/internal/hole"
)

// A builder collects the pieces of a template.
type builder struct {
	pieces []Piece
	text   strings.Builder
}

func (b *builder) endText() {
	if b.text.Len() > 0 {
		b.pieces = append(b.pieces, Piece{Text: b.text.String()})
		b.text.Reset()
	}
}

func (b *builder) addExpr(e *Expr, in Place) {
	b.endText()
	b.pieces = append(b.pieces, Piece{Expr: e, In: in})
}

func (b *builder) template(at Pos) Template {
	b.endText()
	return Template{at, b.pieces}
}

// expr reads an expression whose {{ was read. What else stands in holes of requests, Hurl has not.
func (p *parser) expr() *Expr {
	begin := p.at - len("{{")
	p.spaces()
	at := p.at
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.rest())
		if !isNameRune(r) {
			break
		}
		p.at += n
	}
	e := &Expr{p.pos(at), p.text[at:p.at]}
	if e.Name == "" {
		p.fail(at, "a variable's name is expected here: letters, digits, _ and -")
	}
	p.spaces()
	switch {
	case p.take("}}"):
	case hole.Length(p.text[begin:]) > 0:
		p.fail(p.at, "}} is expected here: %s and %s, the functions of Hurl, have no arguments",
			NewUUID, NewDate)
	default:
		p.fail(p.at, "}} is expected here")
	}
	return e
}

func isNameRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || r == '-'
}

// ended are bytes that end a text, unless they are escaped.
const ended = "\b\n\f\r\t"

// unquoted reads text to the end of the line, a comment or a tab, without the spaces behind it.
func (p *parser) unquoted() Template {
	var b builder
	from, end := p.at, p.at
	spaces := 0
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '#' || strings.IndexByte(ended, c) >= 0:
			p.at = end
			return b.template(p.pos(from))
		case c == ' ':
			spaces++
			p.at++
			continue
		}
		for ; spaces > 0; spaces-- {
			b.text.WriteByte(' ')
		}
		p.character(&b)
		end = p.at
	}
	if p.fault == nil {
		p.at = end
	}
	return b.template(p.pos(from))
}

// character reads an expression, an escape, or a character.
func (p *parser) character(b *builder) {
	switch {
	case p.take("{{"):
		b.addExpr(p.expr(), InText)
	case p.peek() == '\\':
		p.at++
		p.escape(b, "#\"`\\/", "")
	default:
		_, n := utf8.DecodeRuneInString(p.rest())
		b.text.WriteString(p.text[p.at : p.at+n])
		p.at += n
	}
}

// escape reads what follows a backslash: one of the characters that stand for themselves, of
// b, f, n, r and t, or u{...}.
func (p *parser) escape(b *builder, themselves, also string) bool {
	at, c := p.at, p.peek()
	p.at = min(p.at+1, len(p.text))
	switch i := strings.IndexByte("bfnrt", c); {
	case at == len(p.text):
	case strings.IndexByte(themselves+also, c) >= 0:
		b.text.WriteByte(c)
		return true
	case i >= 0:
		b.text.WriteByte("\b\f\n\r\t"[i])
		return true
	case c == 'u':
		return p.unicode(b)
	}
	p.fail(at, "a backslash cannot stand before this character")
	return false
}

// unicode reads the rest of \u{...}.
func (p *parser) unicode(b *builder) bool {
	p.expect("{")
	at := p.at
	var r rune
	for p.at < len(p.text) {
		d, ok := hexDigit(p.text[p.at])
		if !ok {
			break
		}
		if r = r<<4 | rune(d); r > unicode.MaxRune {
			r = unicode.MaxRune + 1
		}
		p.at++
	}
	if p.fault == nil && (p.at == at || !utf8.ValidRune(r)) {
		p.fail(at, "a code point in hexadecimal digits is expected here, as in \\u{2708}")
	}
	p.expect("}")
	b.text.WriteRune(r)
	return p.fault == nil
}

func hexDigit(c byte) (d byte, ok bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// quoted reads text in quotes or backticks, if it comes next.
func (p *parser) quoted(quote byte) (t Template, ok bool) {
	from := p.at
	if p.peek() != quote {
		return t, false
	}
	p.at++
	var b builder
	for p.at < len(p.text) && p.text[p.at] != quote && strings.IndexByte(ended, p.text[p.at]) < 0 {
		p.character(&b)
	}
	p.expect(string(quote))
	return b.template(p.pos(from)), true
}

// text reads an argument in quotes.
func (p *parser) quotedText() Template {
	t, ok := p.quoted('"')
	if !ok {
		p.fail(p.at, "text in quotes is expected here")
	}
	return t
}

// key reads "key:" and the spaces behind it, if that comes next.
func (p *parser) key() (t Template, ok bool) {
	from := p.at
	if p.peek() == '[' {
		return t, false
	}
	var b builder
	trial := *p // what fails here is no key, and may be something else
	for trial.fault == nil && trial.at < len(trial.text) {
		r, n := utf8.DecodeRuneInString(trial.rest())
		switch {
		case strings.HasPrefix(trial.rest(), "{{"):
			trial.at += 2
			b.addExpr(trial.expr(), InText)
			continue
		case r == '\\':
			trial.at++
			trial.escape(&b, "#:\\/", "")
			continue
		case isNameRune(r) || strings.ContainsRune(".[]@$", r):
			b.text.WriteString(trial.text[trial.at : trial.at+n])
			trial.at += n
			continue
		}
		break
	}
	if trial.at == from || trial.fault != nil {
		return t, false
	}
	if trial.spaces(); !trial.take(":") {
		return t, false
	}
	trial.spaces()
	p.at = trial.at
	return b.template(p.pos(from)), true
}

// filename reads the name of a file, in which spaces and some others stand behind a backslash.
func (p *parser) filename() Template { return p.filenameEscaping("") }

func (p *parser) filenameEscaping(also string) Template {
	var b builder
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if strings.HasPrefix(p.rest(), "{{") {
			p.at += 2
			b.addExpr(p.expr(), InText)
			continue
		}
		if c == '\\' {
			p.at++
			p.escape(&b, "\\#; {}", also)
			continue
		}
		if strings.IndexByte("#;{} \n\r", c) >= 0 {
			break
		}
		b.text.WriteByte(c)
		p.at++
	}
	if p.fault == nil && (p.at == from || p.text[from] == '[') {
		p.fail(from, "the name of a file is expected here")
	}
	return b.template(p.pos(from))
}
