package hurl

// filters are those there are.
var filters = map[string]argument{
	"base64Decode": nothing, "base64Encode": nothing, "base64UrlSafeDecode": nothing,
	"base64UrlSafeEncode": nothing, "charsetDecode": quoted, "count": nothing,
	"daysAfterNow": nothing, "daysBeforeNow": nothing, "decode": quoted, "first": nothing,
	"format": quoted, "dateFormat": quoted, "htmlUnescape": nothing, "htmlEscape": nothing,
	"jsonpath": quoted, "last": nothing, "location": nothing, "nth": integer, "regex": pattern,
	"replaceRegex": patternAnd, "replace": two, "split": quoted, "toDate": quoted,
	"toFloat": nothing, "toHex": nothing, "toInt": nothing, "toString": nothing,
	"urlDecode": nothing, "urlEncode": nothing, "urlQueryParam": quoted, "utf8Decode": nothing,
	"utf8Encode": nothing, "xpath": quoted,
}

// filters reads the filters that come next.
func (p *parser) filters() (all []Filter) {
	for p.fault == nil {
		from := p.at
		p.spaces()
		at := p.at
		name := p.takeWhile(isAlphaNum)
		takes, is := filters[name]
		if !is || at == from {
			p.at = from
			return all
		}
		all = append(all, p.filter(Filter{Pos: p.pos(at), Name: name}, takes))
	}
	return all
}

// filter reads the arguments of a filter.
func (p *parser) filter(f Filter, takes argument) Filter {
	if takes != nothing {
		p.gap()
	}
	switch takes {
	case quoted:
		f.Text = p.quotedText()
	case two:
		f.Text = p.quotedText()
		p.gap()
		f.Other = p.quotedText()
	case pattern:
		f.Text, f.Pattern = p.pattern()
	case patternAnd:
		f.Text, f.Pattern = p.pattern()
		p.gap()
		f.Other = p.quotedText()
	case integer:
		if p.take("{{") {
			f.Expr = p.expr()
		} else {
			f.N = p.integer()
		}
	}
	return f
}
