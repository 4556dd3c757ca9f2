package redact

import (
	"strings"

	"dyno/internal/hole"
	"dyno/internal/lazyregexp"
)

// Settings are several values with names in one text. Where a value ends depends on the form of the
// whole, for a password may have almost any character:
//
//	Server=h;Password=my p&ss;           semicolons, as .NET and ODBC have them
//	host=h password='it\'s mine' port=1  blanks, as PostgreSQL's libpq, flags and shells have them
//	page=1&token=x                       a query or a form
var (
	// setting begins one of several.
	setting = lazyregexp.New(`([\w.-]+)\s*=\s*`)
	// segment begins one of those between semicolons. Its name may have blanks.
	segment = lazyregexp.New(`^\s*([A-Za-z_][\w. ]*?)\s*=\s*`)
	// next begins the second of several: what stands there first is what parts all of them.
	next = lazyregexp.New(`;\s*(?:[A-Za-z_][\w. ]*=|$)|\s-{0,2}[A-Za-z_][\w.-]*\s*=`)
)

// redactSettings is a text without the values of the settings in it whose names are secret.
func (c commandLine) redactSettings(text string) string {
	switch {
	case strings.Contains(text, "&") && fields().MatchString(text):
		return c.redactForm(text)
	case isSegmented(text):
		return c.redactSegments(text)
	}
	return c.redactWordSettings(text)
}

// isSegmented reports whether a text is of settings that semicolons part.
func isSegmented(text string) bool {
	first := strings.IndexByte(text, '=')
	at := next().FindStringIndex(text[first+1:])
	if first < 0 || at == nil {
		return false
	}
	second := first + 1 + at[0]
	return text[second] == ';' && quotationAt(text, 0, second, 0) == 0
}

// redactSegments is redactSettings where semicolons part them.
func (c commandLine) redactSegments(text string) string {
	var b strings.Builder
	plain := masked(text)
	for text != "" {
		m := segment().FindStringSubmatchIndex(text)
		begin := 0
		if m != nil {
			begin = m[1]
		}
		n := segmentLength(plain[len(plain)-len(text)+begin:])
		value := text[begin : begin+n]
		if m != nil && Secret(text[m[2]:m[3]]) {
			value = c.redactSetting(text[m[2]:m[3]], value)
		} else {
			value = c.redactWordSettings(value)
		}
		b.WriteString(text[:begin] + value)
		text = text[begin+n:]
		if text != "" { // what is left begins with a semicolon, or with what is behind a quotation
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	return b.String()
}

// segmentLength is how long the value is that a masked text begins with, up to a semicolon. In
// quotes and braces it may have one; two of the closing sign are one of it.
func segmentLength(text string) int {
	if text == "" {
		return 0
	}
	closing := map[byte]byte{'\'': '\'', '"': '"', '{': '}'}[text[0]]
	if closing != 0 && !strings.HasPrefix(text, "{{") {
		for i := 1; i < len(text); i++ {
			switch {
			case text[i] != closing:
			case i+1 < len(text) && text[i+1] == closing:
				i++
			default:
				return i + 1
			}
		}
		return len(text)
	}
	if i := strings.IndexByte(text, ';'); i >= 0 {
		return len(strings.TrimRight(text[:i], " \t"))
	}
	return len(text)
}

// masked is a text of the same length in which holes are letters: what stands in them ends no word
// and no value.
func masked(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	var b strings.Builder
	for p := range hole.TemplatePieces(text) {
		if p.Kind == hole.Hole {
			p.Text = strings.Repeat("x", len(p.Text))
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// redactWordSettings is redactSettings where blanks part them.
func (c commandLine) redactWordSettings(text string) string {
	var b strings.Builder
	plain := masked(text)
	open := byte(0) // the quotation that text[done:] is in
	for done := 0; ; {
		m := setting().FindStringSubmatchIndex(text[done:])
		if m == nil {
			return b.String() + text[done:]
		}
		name, begin := text[done+m[2]:done+m[3]], done+m[1]
		query := done+m[2] > 0 && strings.IndexByte("?&", text[done+m[2]-1]) >= 0
		open = quotationAt(plain, done, begin, open)
		b.WriteString(text[done:begin])
		done = begin
		if Secret(name) {
			n := wordLength(plain[begin:], open, query)
			b.WriteString(c.redactSetting(name, text[begin:begin+n]))
			done += n
		}
	}
}

// quotationAt is the quote of the quotation that an end of a text is in, or 0, if its begin is in
// that of open. An apostrophe within a word begins none.
func quotationAt(text string, begin, end int, open byte) byte {
	for i := begin; i < end; i++ {
		switch q := text[i]; {
		case q == '\\':
			i++
		case q == open:
			open = 0
		case open == 0 && (q == '\'' || q == '"') &&
			(i == 0 || strings.IndexByte(" \t\r\n=([{,:", text[i-1]) >= 0):
			open = q
		}
	}
	return open
}

// wordLength is how long the value is that a masked text begins with, up to a blank. It may be in
// quotes. A backslash quotes a character. A value within a quotation of others ends with that, and
// one of a query at an &.
func wordLength(text string, open byte, query bool) int {
	quote := byte(0)
	if text != "" && text[0] != open && (text[0] == '\'' || text[0] == '"') {
		quote = text[0]
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if i > 0 && c == quote {
				return i + 1
			}
		case strings.IndexByte(" \t\r\n", c) >= 0, open != 0 && c == open, query && c == '&':
			return i
		case c == ';' && (i+1 == len(text) || strings.IndexByte(" \t\r\n", text[i+1]) >= 0):
			return i
		}
	}
	return len(text)
}

// redactSetting is what is kept of the value of a secret setting. Quotes around it stay.
func (c commandLine) redactSetting(name, value string) string {
	around := ""
	if n := len(value); n > 1 && (value[0] == '\'' || value[0] == '"') && value[n-1] == value[0] {
		around, value = value[:1], value[1:n-1]
	}
	if value == "" || isPlainSetting(name, value) || c.takes(value) {
		return around + value + around
	}
	return around + c.Replacer(name, value) + around
}
