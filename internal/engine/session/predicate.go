package session

import (
	"bytes"
	"net/netip"
	"time"

	"dyno/internal/engine/scenario"
	"dyno/internal/lazyregexp"
)

// passes reports whether an assert passes.
func (w *worker) passes(x *user, r *scenario.Response, a *assert) bool {
	switch {
	case a.header != "":
		return w.hasHeader(x, r, a)
	case a.body != nil:
		return w.isBody(x, a)
	}
	v, err := w.evaluate(x, a)
	if err != nil {
		return false
	}
	holds, sure := w.holds(x, &a.is, v)
	return sure && holds != a.is.not
}

// hasHeader reports whether a field of the response has the value.
func (w *worker) hasHeader(x *user, r *scenario.Response, a *assert) bool {
	want, err := w.operand(x, &a.is.value)
	if err != nil {
		return false
	}
	for i := range r.Fields() {
		name, v, trailer := r.FieldAt(i)
		if !trailer && string(name) == a.header && bytes.Equal(bytes.TrimSpace(v), want.text) {
			return true
		}
	}
	return false
}

// isBody reports whether the body is as it has to be.
func (w *worker) isBody(x *user, a *assert) bool {
	body, err := w.scratch.body()
	if err == nil && !a.is.value.binary {
		body, err = w.scratch.bodyText(body)
	}
	if err != nil {
		return false
	}
	want, err := w.textOf(x, a.body)
	return err == nil && bytes.Equal(body, want)
}

// operand is what a predicate compares with.
func (w *worker) operand(x *user, o *operand) (value, error) {
	switch {
	case o.from != nil:
		return w.valueOf(x, *o.from), nil
	case o.parts != nil:
		b, err := w.textOf(x, &arg{parts: o.parts})
		return ofText(b), err
	}
	return o.value, nil
}

// holds reports whether a predicate is true of a value, not apart. It is not sure if the value is
// of a type that the predicate does not take: the assert then fails, with or without not.
func (w *worker) holds(x *user, p *predicate, v value) (is, sure bool) {
	if v.kind == none {
		return false, true
	}
	if is, sure, known := w.isOfType(p.name, v); known {
		return is, sure
	}
	if p.name == "matches" {
		return w.matches(x, &p.value, v)
	}
	want, err := w.operand(x, &p.value)
	if err != nil {
		return false, false
	}
	switch p.name {
	case "==":
		return w.scratch.equals(v, want), true
	case "!=":
		return !w.scratch.equals(v, want), true
	case "startsWith", "endsWith", "contains", "includes":
		return w.contains(p.name, v, want)
	}
	c, ok := order(v, want)
	switch p.name {
	case ">":
		return c > 0, ok
	case ">=":
		return c >= 0, ok
	case "<":
		return c < 0, ok
	}
	return c <= 0, ok
}

// isOfType judges the predicates that compare with nothing.
func (w *worker) isOfType(name string, v value) (is, sure, known bool) {
	switch name {
	case "exists":
		return v.kind != nodes || v.i > 0, true, true
	case "isInteger":
		return v.kind == integer || v.kind == bigInteger, true, true
	case "isFloat":
		return v.kind == float, true, true
	case "isNumber":
		return v.isNumber(), true, true
	case "isBoolean":
		return v.kind == boolean, true, true
	case "isString":
		return v.kind == text, true, true
	case "isCollection":
		return v.kind == binary || v.kind == list || v.kind == nodes || v.kind == object, true, true
	case "isList":
		return v.kind == binary || v.kind == list, true, true
	case "isObject":
		return v.kind == nodes || v.kind == object, true, true
	case "isDate":
		return v.kind == date, true, true
	case "isEmpty":
		n, ok := w.scratch.size(v)
		return n == 0, ok, true
	case "isIsoDate", "isIpv4", "isIpv6", "isUuid":
		return v.kind == text && isOfForm(name, string(v.text)), v.kind == text, true
	}
	return false, false, false
}

var uuidForm = lazyregexp.New(`^(?i:(urn:uuid:)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-` +
	`[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|\{[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-` +
	`[0-9a-f]{12}\})$`)

// isOfForm reports whether a text has the form that a predicate names.
func isOfForm(name, s string) bool {
	switch name {
	case "isIsoDate":
		_, err := time.Parse(time.RFC3339Nano, s)
		return err == nil
	case "isUuid":
		return uuidForm().MatchString(s)
	}
	a, err := netip.ParseAddr(s)
	return err == nil && a.Zone() == "" && a.Is4() == (name == "isIpv4")
}

// matches reports whether a regular expression matches somewhere in a text.
func (w *worker) matches(x *user, o *operand, v value) (is, sure bool) {
	if v.kind != text {
		return false, false
	}
	re, err := w.patternFor(x, &arg{parts: o.parts, text: o.value.text, re: o.re}, v.text)
	return err == nil && re.Match(v.text), err == nil
}

// contains judges startsWith, endsWith, contains and includes.
func (w *worker) contains(name string, v, want value) (is, sure bool) {
	if v.kind == list && (name == "contains" || name == "includes") {
		for _, e := range w.scratch.elements(v) {
			if w.scratch.equals(e, want) {
				return true, true
			}
		}
		return false, true
	}
	if name == "includes" || v.kind != want.kind || v.kind != text && v.kind != binary {
		return false, false
	}
	switch name {
	case "startsWith":
		return bytes.HasPrefix(v.text, want.text), true
	case "endsWith":
		return bytes.HasSuffix(v.text, want.text), true
	}
	return bytes.Contains(v.text, want.text), true
}
