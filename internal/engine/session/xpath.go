package session

import (
	"bytes"
	"errors"
	"strings"

	"dyno/internal/engine/markup"
	"dyno/internal/engine/scenario"
)

// selectXPath is what an XPath expression yields of the body: as HTML if that is its type, and as
// XML otherwise.
func (w *worker) selectXPath(x *user, a *arg, body []byte) (v value, err error) {
	s := &w.scratch
	if s.document == nil && s.documentAs == nil {
		read := markup.XML
		kind := bytes.ToLower(s.response.Field("content-type"))
		if bytes.HasPrefix(kind, []byte("text/html")) {
			read = markup.HTML
		}
		s.document, s.documentAs = read(body)
	}
	if errors.Is(s.documentAs, scenario.ErrLimits) {
		return v, s.exceed()
	}
	if s.documentAs != nil {
		return v, s.documentAs
	}
	return w.evaluateXPath(x, a, s.document)
}

// selectHTML is what an XPath expression yields of a text, which is read as HTML.
func (w *worker) selectHTML(x *user, a *arg, b []byte) (v value, err error) {
	document, err := markup.HTML(b)
	if err != nil {
		return v, w.scratch.exceed()
	}
	return w.evaluateXPath(x, a, document)
}

// evaluateXPath is the value of an expression.
func (w *worker) evaluateXPath(x *user, a *arg, d *markup.Document) (v value, err error) {
	b, err := w.textOf(x, a)
	if err != nil {
		return v, err
	}
	found, err := w.scratch.finder.Find(d, b)
	w.scratch.steps += w.scratch.finder.Steps
	if errors.Is(err, scenario.ErrLimits) {
		return v, w.scratch.exceed()
	}
	switch f := found.(type) {
	case float64:
		return ofFloat(f), err
	case bool:
		return ofBool(f), err
	case string:
		return ofText([]byte(strings.ToValidUTF8(f, "\uFFFD"))), err
	case markup.Nodes:
		return value{kind: nodes, i: int64(f)}, err
	}
	return v, err
}
