package redact

import (
	"strings"

	"dyno/internal/lazyregexp"
)

// AnswerField is what is kept of a field that a server sent: all but the secrets of URLs in it, and
// settings of a secret's name, unless the field's own name is that of a secret. A server's fields
// say more than a client's of what went wrong, and who asked is in few of them.
func (r Replacer) AnswerField(name, value string) string {
	switch {
	case r == nil:
		return value
	case Secret(name):
		return r(name, value)
	case strings.EqualFold(name, "location"), strings.EqualFold(name, "content-location"):
		return r.URL(value)
	}
	return r.Comment(value)
}

// AnswerBody is what is kept of the beginning of a body that a server sent, whose Content-Type is
// kind, or "" if none was said: JSON and forms without the values of their secret fields. Of all
// others, and of JSON that was cut, it is the text without what reads as a secret's setting.
func (r Replacer) AnswerBody(kind string, body []byte) []byte {
	if r == nil || len(body) == 0 {
		return body
	}
	kind = mediaType(kind)
	if kept, is := r.redactFields(kind, body); is {
		return kept
	}
	if (kind == "" || kind == "application/x-www-form-urlencoded") && looseForm().Match(body) {
		return []byte(r.looseForm(string(body)))
	}
	return []byte(r.Comment(string(body)))
}

// looseForm begins a text with several fields as a form has them, whatever is in their values:
// people write blanks there, which browsers escape.
var looseForm = lazyregexp.New(`^[\w.~*%+\[\]-]+(=[^&<>{}"]*)?&`)

// looseForm is such a form without the values of its secret fields, each of which ends at its &.
func (r Replacer) looseForm(s string) string {
	parts := strings.Split(s, "&")
	for i, part := range parts {
		if kept := r.redactForm(part); kept != part {
			parts[i] = kept
		} else {
			parts[i] = r.Comment(part)
		}
	}
	return strings.Join(parts, "&")
}
