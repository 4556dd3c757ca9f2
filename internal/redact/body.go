package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unsafe"
)

// Body is what is kept of a request's body whose Content-Type is kind, or "" if none was said:
// JSON and forms without the values of their secret fields, and nothing of any other.
func (r Replacer) Body(kind string, body []byte) []byte {
	if r == nil || len(body) == 0 {
		return body
	}
	kind = mediaType(kind)
	if kept, is := r.redactFields(kind, body); is {
		return kept
	}
	if kind == "" && isForm(body) {
		return []byte(r.redactForm(string(body)))
	}
	// A body has 100 MB, which are not copied: nobody changes it meanwhile.
	whole := unsafe.String(&body[0], len(body))
	if kept := r("body", whole); kept != whole {
		return []byte(kept)
	}
	return body
}

// mediaType is a Content-Type without its parameters, in lower case.
func mediaType(kind string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	return strings.TrimSpace(kind)
}

// redactFields is a body without the values of its secret fields. It is not ok if the body is
// neither JSON nor a form of that media type. A body of an unknown type, "", may be JSON.
func (r Replacer) redactFields(kind string, body []byte) (kept []byte, ok bool) {
	if kind == "" || strings.Contains(kind, "json") {
		if kept, ok = r.redactJSON(body); ok {
			return kept, true
		}
	}
	if kind == "application/x-www-form-urlencoded" && isForm(body) {
		return []byte(r.redactForm(string(body))), true
	}
	return nil, false
}

// A level is an object or a list of JSON that is being read.
type level struct {
	object, wantsKey bool
	name             string // of the value that is next
	secret           bool   // it is
	inherits         bool   // all in it is
}

// A jsonReader copies JSON, but for secret values.
type jsonReader struct {
	replace Replacer
	from    []byte
	to      bytes.Buffer
	copied  int // bytes of from
	levels  []level
}

// redactJSON is JSON without the values of its secret fields; not ok if body is none, or has a
// value outside of objects and lists, which has no name to judge it by. Several values may follow
// one another, as lines of them do.
func (r Replacer) redactJSON(body []byte) (kept []byte, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	j := &jsonReader{replace: r, from: body}
	for any := false; ; any = true {
		before := int(d.InputOffset())
		t, err := d.Token()
		if errors.Is(err, io.EOF) && any && len(j.levels) == 0 {
			break
		}
		if err != nil || !j.readToken(t, before, int(d.InputOffset())) {
			return nil, false
		}
	}
	j.to.Write(body[j.copied:])
	return j.to.Bytes(), true
}

// readToken takes the token that ends at an offset, and begins after another.
func (j *jsonReader) readToken(t json.Token, after, end int) bool {
	if open, is := t.(json.Delim); is {
		j.readDelimiter(open)
		return true
	}
	if len(j.levels) == 0 {
		return false
	}
	l := &j.levels[len(j.levels)-1]
	if key, is := t.(string); is && l.wantsKey {
		l.name, l.secret, l.wantsKey = key, l.inherits || Secret(key), false
		return true
	}
	l.wantsKey = l.object
	var kept string
	switch v := t.(type) {
	case string:
		kept = j.replaceText(l, v)
	case json.Number:
		kept = j.replaceNumber(l, v.String())
	}
	if kept != "" {
		begin := after + len(j.from[after:end]) - len(bytes.TrimLeft(j.from[after:end], " \t\r\n,:"))
		j.to.Write(j.from[j.copied:begin])
		j.to.WriteString(kept)
		j.copied = end
	}
	return true
}

func (j *jsonReader) readDelimiter(d json.Delim) {
	switch d {
	case '{', '[':
		next := level{object: d == '{', wantsKey: d == '{'}
		if n := len(j.levels); n > 0 {
			l := &j.levels[n-1]
			next.name, next.secret, next.inherits = l.name, l.secret, l.secret
			l.wantsKey = l.object
		}
		j.levels = append(j.levels, next)
	default:
		j.levels = j.levels[:len(j.levels)-1]
	}
}

// numeric begins the mark of a number, which is else that of its digits as a text.
const numeric = "(redacted-n"

// replaceText is what stands in a string's place, as JSON; "" if the string stays.
func (j *jsonReader) replaceText(l *level, s string) string {
	kept := j.replace.Text(s)
	if l.secret {
		if digits, is := strings.CutPrefix(s, numeric); is && len(s) == longestMark {
			m := "(redacted-" + digits
			switch kept = j.replace(l.name, m); {
			case kept == m:
				return ""
			case !IsMark(kept):
				return kept // the number is given back
			}
			return quoteJSON(kept)
		}
		kept = j.replace(l.name, s)
	}
	if kept == s {
		return ""
	}
	return quoteJSON(kept)
}

// replaceNumber is likewise what stands in a number's place.
func (j *jsonReader) replaceNumber(l *level, digits string) string {
	if !l.secret {
		return ""
	}
	kept := j.replace(l.name, digits)
	switch {
	case kept == digits:
		return ""
	case kept != Plain && IsMark(kept):
		kept = numeric + strings.TrimPrefix(kept, "(redacted-")
	}
	return quoteJSON(kept)
}

// quoteJSON is s as a string of JSON.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string has JSON
	return strings.TrimSuffix(b.String(), "\n")
}
