package session

import (
	"bytes"
	"errors"
	"strings"

	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"
	"golang.org/x/net/html"
)

var errNotXML = errors.New("the body is no XML")

// selectXPath is what an XPath expression yields of the body: as HTML if that is its type, and as
// XML otherwise.
func (w *worker) selectXPath(x *user, a *arg) (v value, err error) {
	s := &w.scratch
	if s.document == nil && s.documentAs == nil {
		body, err := s.body()
		if err == nil {
			body, err = s.bodyText(body)
		}
		if err != nil {
			return v, err
		}
		kind := bytes.ToLower(s.response.Field("content-type"))
		if bytes.HasPrefix(kind, []byte("text/html")) {
			s.document, s.documentAs = htmlDocument(body)
		} else {
			s.document, s.documentAs = xmlDocument(body)
		}
	}
	if s.documentAs != nil {
		return v, s.documentAs
	}
	return w.evaluateXPath(x, a, s.document)
}

// selectHTML is what an XPath expression yields of a text, which is read as HTML.
func (w *worker) selectHTML(x *user, a *arg, b []byte) (v value, err error) {
	document, err := htmlDocument(b)
	if err != nil {
		return v, err
	}
	return w.evaluateXPath(x, a, document)
}

func htmlDocument(b []byte) (xpath.NodeNavigator, error) {
	root, err := html.Parse(bytes.NewReader(cutEndTags(b)))
	if err != nil {
		return nil, err
	}
	return htmlquery.CreateXPathNavigator(root), nil
}

// cutEndTags cuts </body> and </html> off the end of an HTML document, and the white space after
// each. To the standard's parser this space is in the body; to that of hurl, libxml2, it is not.
func cutEndTags(b []byte) []byte {
	for _, tag := range []string{"</html>", "</body>"} {
		trimmed := bytes.TrimRight(b, " \t\r\n\f")
		text := len(trimmed) - len(tag)
		if text >= 0 && bytes.EqualFold(trimmed[text:], []byte(tag)) {
			b = trimmed[:text]
		}
	}
	return b
}

func xmlDocument(b []byte) (xpath.NodeNavigator, error) {
	root, err := xmlquery.Parse(bytes.NewReader(b))
	if err != nil || root.SelectElement("*") == nil {
		return nil, errNotXML
	}
	return xmlquery.CreateXPathNavigator(root), nil
}

// namespacesOf are those that the root of a document declares. As in hurl, _ stands for the one
// without a prefix.
func namespacesOf(document xpath.NodeNavigator) map[string]string {
	n, is := document.(*xmlquery.NodeNavigator)
	if !is {
		return nil
	}
	all := map[string]string{}
	for _, a := range n.Current().SelectElement("*").Attr {
		switch {
		case a.Name.Space == "xmlns":
			all[a.Name.Local] = a.Value
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			all["_"] = a.Value
		}
	}
	return all
}

// evaluateXPath is the value of an expression.
func (w *worker) evaluateXPath(x *user, a *arg, document xpath.NodeNavigator) (v value, err error) {
	expr := a.xpath
	if spaces := namespacesOf(document); expr == nil || len(spaces) > 0 {
		b, err := w.textOf(x, a)
		if err == nil {
			expr, err = xpath.CompileWithNS(string(b), spaces)
		}
		if err != nil {
			return v, err
		}
	}
	defer func() { // the library panics on some expressions
		if p := recover(); p != nil {
			err = errors.New("the XPath expression cannot be evaluated")
		}
	}()
	switch r := expr.Evaluate(document.Copy()).(type) {
	case float64:
		return ofFloat(r), nil
	case bool:
		return ofBool(r), nil
	case string:
		return ofText([]byte(strings.ToValidUTF8(r, "\uFFFD"))), nil
	case *xpath.NodeIterator:
		n := int64(0)
		for r.MoveNext() {
			n++
		}
		return value{kind: nodes, i: n}, nil
	}
	return v, errors.New("the XPath expression has no value")
}
