package hurl

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// optionalBody reads a body if one comes next.
func (p *parser) optionalBody() (b *Body) {
	p.ahead(func() bool {
		at := p.at
		if b = p.body(); b == nil {
			return false
		}
		b.Pos = p.pos(at)
		p.lineEnd()
		return true
	})
	return b
}

// body reads a body; nil if none comes next.
func (p *parser) body() *Body {
	if strings.HasPrefix(p.rest(), "```") {
		text, kind, _ := p.multiline()
		return &Body{Kind: kind, Text: text}
	}
	if t, ok := p.quoted('`'); ok {
		return &Body{Kind: TextBody, Text: t}
	}
	if p.jsonAhead() {
		at := p.pos(p.at)
		j := jsonReader{parser: p, keepSpace: true}
		j.value(0)
		return &Body{Kind: JSONBody, Text: j.out.template(at)}
	}
	switch {
	case p.peek() == '<':
		return &Body{Kind: XMLBody, Text: p.xml()}
	case strings.HasPrefix(p.rest(), "base64"), strings.HasPrefix(p.rest(), "hex"):
		return &Body{Kind: BytesBody, Bytes: p.binary()}
	case p.take("file"):
		return &Body{Kind: FileBody, Text: p.fileRest()}
	}
	return nil
}

// fileRest reads ",name;" behind the word file.
func (p *parser) fileRest() Template {
	p.expect(",")
	p.spaces()
	t := p.filename()
	p.spaces()
	p.expect(";")
	return t
}

// binary reads base64,...; or hex,...;
func (p *parser) binary() []byte {
	isHex := p.take("hex")
	if !isHex {
		p.expect("base64")
	}
	p.expect(",")
	p.spaces()
	var b []byte
	if isHex {
		b = p.hexBytes()
	} else {
		b = p.base64Bytes()
	}
	p.spaces()
	p.expect(";")
	return b
}

func (p *parser) hexBytes() (b []byte) {
	digits := 0
	for p.at < len(p.text) {
		d, ok := hexDigit(p.text[p.at])
		if !ok {
			break
		}
		if digits%2 == 0 {
			b = append(b, d<<4)
		} else {
			b[len(b)-1] |= d
		}
		digits++
		p.at++
	}
	if digits%2 == 1 {
		p.fail(p.at, "there is an odd number of hexadecimal digits")
	}
	return b
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// base64Bytes reads base64 that may be broken into lines, and may lack its padding.
func (p *parser) base64Bytes() (b []byte) {
	bits, have := uint32(0), 0
	for p.at < len(p.text) {
		c := p.text[p.at]
		if d := strings.IndexByte(base64Digits, c); d >= 0 {
			if bits, have = bits<<6|uint32(d), have+6; have >= 8 {
				have -= 8
				b = append(b, byte(bits>>have))
			}
		} else if c != ' ' && c != '\n' && c != '\t' {
			break
		}
		p.at++
	}
	p.takeWhile(func(c byte) bool { return c == '=' })
	return b
}

// xml reads an XML document: it ends with its root element.
func (p *parser) xml() Template {
	from := p.at
	d := xml.NewDecoder(strings.NewReader(p.rest()))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			p.noXML(from+int(d.InputOffset()), err)
			return Template{}
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
			if depth == 0 {
				p.at = from + int(d.InputOffset())
				return Template{p.pos(from), []Piece{{Text: p.text[from:p.at]}}}
			}
		}
	}
}

// noXML is the fault of an XML document. One that ends too early is wrong where its text ends.
func (p *parser) noXML(at int, err error) {
	if at == len(p.text) {
		at = len(strings.TrimRight(p.text, " \t\r\n"))
	}
	problem := err.Error()
	if bad, is := errors.AsType[*xml.SyntaxError](err); is {
		problem = bad.Msg // without the line, which is that of the document
	}
	p.fail(at, "this is no XML: %s", problem)
}

// multiline reads text between three backticks each. isString reports whether the text is a string
// as it is, and not in a language.
func (p *parser) multiline() (t Template, kind BodyKind, isString bool) {
	p.expect("```")
	kinds := []struct {
		word string
		kind BodyKind
	}{{"json", JSONBody}, {"xml", XMLBody}, {"graphql", JSONBody}, {"raw", TextBody}, {"", TextBody}}
	for _, k := range kinds {
		if !p.take(k.word) {
			continue
		}
		if k.word == "graphql" {
			p.take(",")
		}
		p.spaces()
		hint := p.at
		if p.takeWhile(func(c byte) bool { return c != '\n' && c != '\r' && c != '`' }); p.at > hint {
			p.fail(hint, "%.40q is no language: json, xml, graphql or raw is expected, or the line's end",
				p.text[hint:p.at])
		}
		if !p.take("\r\n") {
			p.expect("\n")
		}
		if k.word == "graphql" {
			return p.graphQL(), k.kind, false
		}
		return p.untilBackticks(k.word != "raw"), k.kind, k.word == ""
	}
	return t, TextBody, true
}

// untilBackticks reads text up to three backticks. Nothing in it is escaped.
func (p *parser) untilBackticks(templates bool) Template {
	from := p.at
	var b builder
	for p.at < len(p.text) && !strings.HasPrefix(p.rest(), "```") {
		if templates && p.take("{{") {
			b.addExpr(p.expr(), InText)
			continue
		}
		b.text.WriteByte(p.text[p.at])
		p.at++
	}
	p.expect("```")
	return b.template(p.pos(from))
}

// graphQL reads a query, and the variables behind it if there are some, as the JSON that is sent.
func (p *parser) graphQL() Template {
	var query builder
	var variables *jsonReader
	from := p.at
	lineBegins := false
	for p.at < len(p.text) && !strings.HasPrefix(p.rest(), "```") {
		if lineBegins && p.take("variables") {
			p.spaces()
			if p.peek() != '{' {
				p.fail(p.at, "the variables are an object: { is expected here")
			}
			variables = &jsonReader{parser: p}
			variables.value(0)
			p.takeWhile(isJSONSpace)
			break
		}
		if lineBegins = p.peek() == '\n'; !lineBegins && p.take("{{") {
			query.addExpr(p.expr(), InJSONString)
			continue
		}
		query.text.WriteByte(p.peek())
		p.at++
	}
	p.expect("```")
	q := query.template(p.pos(from))
	var out builder
	out.text.WriteString(`{"query":"`)
	for i, piece := range q.Pieces {
		if piece.Expr != nil {
			out.addExpr(piece.Expr, InJSONString)
			continue
		}
		if i == 0 {
			piece.Text = strings.TrimLeft(piece.Text, " \t\r\n")
		}
		if i == len(q.Pieces)-1 {
			piece.Text = strings.TrimRight(piece.Text, " \t\r\n")
		}
		out.text.WriteString(jsonEscaped(piece.Text))
	}
	out.text.WriteByte('"')
	if variables != nil {
		out.text.WriteString(`,"variables":`)
		for _, piece := range variables.out.template(q.Pos).Pieces {
			if piece.Expr != nil {
				out.addExpr(piece.Expr, piece.In)
			} else {
				out.text.WriteString(piece.Text)
			}
		}
	}
	out.text.WriteByte('}')
	return out.template(q.Pos)
}

// jsonEscaped is text as it stands in a JSON string.
func jsonEscaped(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return s // no string fails
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}
