package session

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/scenario"
	"dyno/internal/engine/strftime"
	"dyno/internal/lazyregexp"
)

// errType is the error of a value that a filter does not take.
func errType(f *filter, v value) error {
	return fmt.Errorf("the filter %s does not take %s", f.name, v)
}

// filter is the value that a filter makes of one.
func (w *worker) filter(x *user, f *filter, v value) (value, error) {
	switch v.kind {
	case text:
		return w.filterText(x, f, v)
	case binary:
		return w.filterBytes(x, f, v)
	case list:
		return w.filterList(x, f, v)
	case integer, float, bigInteger, boolean, null:
		return w.filterScalar(f, v)
	case response:
		if f.name == "location" {
			return ofText(v.text), nil
		}
	case nodes:
		if f.name == "count" {
			return ofInteger(v.i), nil
		}
	case date:
		if f.name == "format" || f.name == "dateFormat" {
			format, err := w.formatOf(x, f)
			return ofText(format.Append(nil, time.Unix(0, v.i))), err
		}
		const day = 24 * 3600 * 1e9
		switch days := (v.i - w.facts.Due) / day; f.name {
		case "daysAfterNow":
			return ofInteger(days), nil
		case "daysBeforeNow":
			return ofInteger(-days), nil
		case "toString":
			return w.rendered(f, v)
		}
	}
	return v, errType(f, v)
}

// formatOf is the format of dates that a filter names.
func (w *worker) formatOf(x *user, f *filter) (strftime.Format, error) {
	if f.arg.date != nil {
		return *f.arg.date, nil
	}
	b, err := w.textOf(x, &f.arg)
	if err != nil {
		return strftime.Format{}, err
	}
	return strftime.Parse(string(b))
}

// toDate is the date that a text is.
func (w *worker) toDate(x *user, f *filter, v value) (value, error) {
	format, err := w.formatOf(x, f)
	if err != nil {
		return v, err
	}
	t, err := format.Read(string(v.text))
	return value{kind: date, i: t.UnixNano()}, err
}

// rendered is a value as text.
func (w *worker) rendered(f *filter, v value) (value, error) {
	from := len(w.scratch.text)
	var ok bool
	if w.scratch.text, ok = v.render(w.scratch.text); !ok {
		return v, errType(f, v)
	}
	return ofText(w.scratch.text[from:]), nil
}

// filterScalar filters a number, a boolean or null.
func (w *worker) filterScalar(f *filter, v value) (value, error) {
	switch {
	case f.name == "toString":
		return w.rendered(f, v)
	case f.name == "toInt" && v.kind == integer, f.name == "toFloat" && v.kind == float:
		return v, nil
	case f.name == "toInt" && v.kind == float:
		return ofInteger(int64(v.f)), nil
	case f.name == "toFloat" && v.kind == integer:
		return ofFloat(float64(v.i)), nil
	}
	return v, errType(f, v)
}

// filterList filters a list.
func (w *worker) filterList(x *user, f *filter, v value) (value, error) {
	if f.name == "count" {
		n, _ := w.scratch.size(v)
		return ofInteger(int64(n)), nil
	}
	all := w.scratch.elements(v)
	if w.scratch.exceeded {
		return v, scenario.ErrLimits
	}
	n := int64(0)
	switch f.name {
	case "first":
	case "last":
		n = -1
	case "nth":
		n = f.n
		if f.expr != nil {
			i := w.valueOf(x, *f.expr)
			if i.kind != integer {
				return v, fmt.Errorf("the filter nth needs an integer, and not %s", i)
			}
			n = i.i
		}
	default:
		return v, errType(f, v)
	}
	if n < 0 {
		n += int64(len(all))
	}
	if n < 0 || n >= int64(len(all)) {
		return v, fmt.Errorf("the list has %d elements", len(all))
	}
	return all[n], nil
}

// filterBytes filters bytes.
func (w *worker) filterBytes(x *user, f *filter, v value) (value, error) {
	switch f.name {
	case "count":
		return ofInteger(int64(len(v.text))), nil
	case "toHex":
		return ofText(hex.AppendEncode(nil, v.text)), nil
	case "base64Encode":
		return ofText(base64.StdEncoding.AppendEncode(nil, v.text)), nil
	case "base64UrlSafeEncode":
		return ofText(base64.RawURLEncoding.AppendEncode(nil, v.text)), nil
	case "utf8Decode":
		return ofText(bytes.ToValidUTF8(v.text, []byte("\uFFFD"))), nil
	case "decode", "charsetDecode":
		label, err := w.textOf(x, &f.arg)
		if err != nil {
			return v, err
		}
		b, err := decodeCharset(v.text, string(label))
		return ofText(b), err
	}
	return v, errType(f, v)
}

// filterText filters a text.
func (w *worker) filterText(x *user, f *filter, v value) (value, error) {
	switch f.name {
	case "toString":
		return v, nil
	case "jsonpath":
		return w.selectJSON(x, &f.arg, v.text, fmt.Errorf("the value is no JSON"))
	case "xpath":
		return w.selectHTML(x, &f.arg, v.text)
	case "regex":
		return w.firstGroup(x, &f.arg, v.text)
	case "toDate":
		return w.toDate(x, f, v)
	case "utf8Encode":
		return value{kind: binary, text: v.text}, nil
	case "toInt":
		i, err := strconv.ParseInt(string(v.text), 10, 64)
		return ofInteger(i), err
	case "toFloat":
		n, err := strconv.ParseFloat(string(v.text), 64)
		return ofFloat(n), err
	case "base64Decode":
		b, err := base64.StdEncoding.AppendDecode(nil, v.text)
		return value{kind: binary, text: b}, err
	case "base64UrlSafeDecode":
		b, err := base64.RawURLEncoding.AppendDecode(nil, v.text)
		return value{kind: binary, text: b}, err
	case "htmlEscape":
		return ofText([]byte(htmlEscapes.Replace(string(v.text)))), nil
	case "htmlUnescape":
		return ofText([]byte(html.UnescapeString(string(v.text)))), nil
	case "urlEncode":
		return ofText(appendPercent(nil, v.text, "-._~/")), nil
	case "urlDecode":
		return ofText(percentDecoded(v.text)), nil
	}
	return w.filterWithText(x, f, v)
}

// htmlEscapes are what hurl escapes.
var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;",
	"'", "&#x27;")

// filterWithText filters a text with another.
func (w *worker) filterWithText(x *user, f *filter, v value) (value, error) {
	if !slices.Contains([]string{"replace", "replaceRegex", "split", "urlQueryParam"}, f.name) {
		return v, errType(f, v)
	}
	second, err := w.textOf(x, &f.second)
	if err != nil {
		return v, err
	}
	if f.name == "replaceRegex" {
		re, err := w.patternFor(x, &f.arg, v.text)
		if err != nil {
			return v, err
		}
		matches := 0
		re.ReplaceAllFunc(v.text, func([]byte) []byte { matches++; return nil })
		groups := bytes.Count(second, []byte("$")) // each may be all of the text
		if !canHold(len(v.text)*(1+groups), matches, len(second)) {
			return v, w.scratch.exceed()
		}
		return ofText(re.ReplaceAll(v.text, second)), nil
	}
	first, err := w.textOf(x, &f.arg)
	if err != nil {
		return v, err
	}
	switch f.name {
	case "replace":
		if !canHold(len(v.text), bytes.Count(v.text, first), len(second)) {
			return v, w.scratch.exceed()
		}
		return ofText(bytes.ReplaceAll(v.text, first, second)), nil
	case "split":
		if bytes.Count(v.text, first) > scenario.MaxNodes {
			return v, w.scratch.exceed()
		}
		var all []value
		for one := range bytes.SplitSeq(v.text, first) {
			all = append(all, ofText(one))
		}
		return ofList(all), nil
	}
	u, err := url.Parse(string(v.text))
	if err != nil {
		return v, err
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, text, _ := strings.Cut(pair, "=")
		if bytes.Equal(formDecoded(name), first) {
			return ofText(formDecoded(text)), nil
		}
	}
	return value{}, nil
}

// canHold reports whether a text that becomes longer so many times is not too long then.
func canHold(text, times, each int) bool {
	return text <= scenario.MaxText && (each == 0 || times <= (scenario.MaxText-text)/each)
}

func formDecoded(s string) []byte {
	return percentDecoded([]byte(strings.ReplaceAll(s, "+", " ")))
}

var escaped = lazyregexp.New(`%[0-9A-Fa-f]{2}`)

// percentDecoded is text in which escapes are what they stand for.
func percentDecoded(b []byte) []byte {
	b = escaped().ReplaceAllFunc(b, func(e []byte) []byte {
		out, _ := hex.AppendDecode(nil, e[1:]) // they are digits
		return out
	})
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}
