package session

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/jsonpath"
	"dyno/internal/engine/markup"
	"dyno/internal/engine/strftime"
	"dyno/internal/fact"
)

// An assert is what a response has to be, or a capture, which has to have a value.
type assert struct {
	check   int // in the plan's Checks
	query   query
	filters []filter
	is      predicate
	slot    int // of a capture
	// captures is the variable that a capture gives its value, and redact whether it is secret.
	captures string
	redact   bool
	expr     string // query and filters of a capture, as the file has them
	body     *arg   // what the whole body has to be, in place of the query
	header   string // the field, in lower case, one of which has to be is.value
}

// A query is where a value comes from. A filter has the same fields.
type query struct {
	name      string
	arg       arg
	second    arg
	attribute string
	from      source // of a variable
	n         int64
	expr      *source // in place of n
}

type filter = query

// An arg is a text, and what a constant one is compiled to.
type arg struct {
	parts []part // nil: text is all
	text  []byte
	path  *jsonpath.Path
	re    *pattern
	date  *strftime.Format
}

// A predicate is a condition.
type predicate struct {
	name  string
	not   bool
	value operand
}

// An operand is what a predicate compares with.
type operand struct {
	value  value
	parts  []part  // of a text that only the run knows
	from   *source // of a variable
	re     *pattern
	binary bool // bodies are compared as bytes
}

// unsupportedQueries are those of hurl that dyno cannot answer.
var unsupportedQueries = []string{"certificate", "ip"}

// compileArg compiles the argument of a query or filter.
func (s *scope) compileArg(name string, t hurl.Template, p *hurl.Pattern) (a arg) {
	if p != nil {
		a.re = newPattern(p.Regexp)
		return a
	}
	all := merged(s.parts(t))
	if len(all) > 1 || len(all) == 1 && all[0].text == nil {
		a.parts = all
		return a
	}
	if len(all) == 1 {
		a.text = all[0].text
	}
	var err error
	switch name {
	case "jsonpath":
		a.path, err = jsonpath.Parse(string(a.text))
	case "regex", "replaceRegex", "matches":
		var re *regexp.Regexp
		if re, err = regexp.Compile(string(a.text)); err == nil {
			a.re = newPattern(re)
		}
	case "toDate", "format", "dateFormat":
		var f strftime.Format
		f, err = strftime.Parse(string(a.text))
		a.date = &f
	case "xpath":
		err = markup.Check(string(a.text))
	}
	if err != nil {
		s.fault(t.Pos, "%v", err)
	}
	return a
}

func (s *scope) compileQuery(q hurl.Query) (c query) {
	c = query{name: q.Name, attribute: q.Attribute}
	if slices.Contains(unsupportedQueries, q.Name) {
		s.wrong(q.Pos, fact.NotInLoad{What: fact.HurlQuery, Name: q.Name})
		return c
	}
	switch q.Name {
	case "variable":
		name, ok := s.literal(q.Text, fact.VariableName, "")
		from, known := s.known[name]
		if c.from = from; ok && !known {
			c.from = source{kind: constant}
		} else if ok {
			s.noteColumn(from, name, q.Pos)
		}
	case "header":
		if c.arg = s.compileArg(q.Name, q.Text, nil); c.arg.parts == nil {
			c.arg.text = bytes.ToLower(c.arg.text)
			s.wantField(string(c.arg.text))
		} else {
			s.want.AllFields = true
		}
	case "cookie", "jsonpath", "regex", "xpath":
		c.arg = s.compileArg(q.Name, q.Text, q.Pattern)
	}
	if c.readsBody() {
		s.wantBody()
	}
	return c
}

// readsBody reports whether a query looks at the body.
func (q *query) readsBody() bool {
	switch q.name {
	case "body", "jsonpath", "xpath", "regex", "bytes", "rawbytes", "sha256", "md5":
		return true
	}
	return false
}

func (s *scope) compileFilters(all []hurl.Filter) (compiled []filter) {
	for _, f := range all {
		c := filter{name: f.Name, n: f.N}
		if f.Expr != nil {
			if from, ok := s.resolve(f.Expr); ok {
				c.expr = &from
			}
		}
		c.arg = s.compileArg(f.Name, f.Text, f.Pattern)
		c.second = s.compileArg("", f.Other, nil)
		if f.Name == "decode" || f.Name == "charsetDecode" {
			s.checkCharset(f, &c.arg)
		}
		compiled = append(compiled, c)
	}
	return compiled
}

// checkCharset reports a charset that nobody knows.
func (s *scope) checkCharset(f hurl.Filter, a *arg) {
	if a.parts == nil && !isCharset(string(a.text)) {
		s.fault(f.Text.Pos, "%.40q is no charset", a.text)
	}
}

func (s *scope) compilePredicate(p hurl.Predicate) (c predicate) {
	c = predicate{name: p.Name, not: p.Not}
	v := p.Value
	switch v.Kind {
	case hurl.Null:
		c.value.value = value{kind: null}
	case hurl.Bool:
		c.value.value = ofBool(v.Bool)
	case hurl.Number:
		n, _ := v.Text.Literal()
		c.value.value = ofNumber([]byte(n))
	case hurl.Bytes:
		c.value.value = value{kind: binary, text: v.Bytes}
	case hurl.Content:
		c.value.value = value{kind: binary, text: s.readFile(v.Text)}
	case hurl.Regex:
		c.value.re = newPattern(v.Pattern.Regexp)
	case hurl.Held:
		if from, ok := s.resolve(v.Text.Pieces[0].Expr); ok {
			c.value.from = &from
		}
	case hurl.Text:
		a := s.compileArg(p.Name, v.Text, nil)
		c.value.parts, c.value.re = a.parts, a.re
		c.value.value = ofText(a.text)
	}
	return c
}

// compileResponse compiles what the response to an entry has to be, in the order in which it is
// judged: the status, captures, and the rest.
func (s *scope) compileResponse(r *hurl.Response, e *entry) {
	if r == nil {
		return
	}
	e.anyStatus = true
	if r.Version != "" {
		e.first = append(e.first, s.check(r.VersionPos, "version "+r.Version, assert{
			query: query{name: "version"},
			is:    predicate{name: "==", value: operand{value: ofText([]byte(r.Version))}}}))
	}
	if r.Status >= 0 {
		e.first = append(e.first, s.check(r.StatusPos, fmt.Sprint("status ", r.Status), assert{
			query: query{name: "status"},
			is:    predicate{name: "==", value: operand{value: ofInteger(int64(r.Status))}}}))
	}
	for i := range e.first {
		e.noteStatus(&e.first[i])
	}
	for _, c := range r.Captures {
		s.compileCapture(&c, e)
	}
	for _, h := range r.Headers {
		name, ok := s.literal(h.Key, fact.HeaderName, "")
		if !ok {
			continue
		}
		name = strings.ToLower(name)
		s.wantField(name)
		a := assert{header: name}
		v := s.compileArg("", h.Value, nil)
		a.is.value.parts, a.is.value.value = v.parts, ofText(v.text)
		e.asserts = append(e.asserts, s.check(h.Key.Pos, "header "+h.Key.Source()+": "+
			h.Value.Source(), a))
	}
	if r.Body != nil {
		s.compileBody(r.Body, e)
	}
	for _, a := range r.Asserts {
		e.asserts = append(e.asserts, s.check(a.Query.Pos, a.Text, assert{
			query: s.compileQuery(a.Query), filters: s.compileFilters(a.Filters),
			is: s.compilePredicate(a.Predicate)}))
		e.noteStatus(&e.asserts[len(e.asserts)-1])
	}
}

// noteStatus notes an assert that says what the status has to be.
func (e *entry) noteStatus(a *assert) {
	if a.query.name == "status" {
		e.statuses = append(e.statuses, a.check)
	}
}

func (s *scope) compileCapture(c *hurl.Capture, e *entry) {
	name, ok := c.Name.Literal()
	switch {
	case !ok:
		s.wrong(c.Name.Pos, fact.NotInLoad{What: fact.CaptureName})
		return
	case hurl.IsFunction(name):
		s.wrong(c.Name.Pos, fact.InScenario{Of: fact.NameOfFunction, Name: name})
		return
	}
	a := assert{query: s.compileQuery(c.Query), filters: s.compileFilters(c.Filters)}
	a.slot, a.captures, a.redact, a.expr = s.assign(name), name, c.Redact, c.Text
	e.captures = append(e.captures, s.check(c.Name.Pos, "capture "+name, a))
}

// compileBody compiles what the whole body has to be.
func (s *scope) compileBody(b *hurl.Body, e *entry) {
	s.wantBody()
	a := assert{body: &arg{}}
	switch b.Kind {
	case hurl.BytesBody:
		a.body.text, a.is.value.binary = b.Bytes, true
	case hurl.FileBody:
		a.body.text, a.is.value.binary = s.readFile(b.Text), true
	default:
		*a.body = s.compileArg("", b.Text, nil)
	}
	e.asserts = append(e.asserts, s.check(b.Pos, "body", a))
}

// check gives an assert its place among the plan's checks. Its name says where it was written.
func (s *scope) check(at hurl.Pos, what string, a assert) assert {
	const longest = 100
	if r := []rune(what); len(r) > longest {
		what = string(r[:longest]) + "…"
	}
	what = strings.Join(strings.Fields(what), " ")
	a.check = len(s.Checks)
	s.Checks = append(s.Checks, fmt.Sprintf("%s line %d: %s", s.program.name, at.Line, what))
	return a
}
