package markup

import (
	"bytes"
	"errors"

	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"
	"golang.org/x/net/html"
)

var errNotXML = errors.New("the body is no XML")

// A Document is a tree. It does not change.
type Document struct {
	root xpath.NodeNavigator
	// spaces are the namespaces that the root declares. As in hurl, the prefix _ stands for none.
	spaces []space
}

type space struct{ prefix, uri string }

// HTML is an HTML document.
func HTML(b []byte) (*Document, error) {
	root, err := html.Parse(bytes.NewReader(cutEndTags(b)))
	if err != nil {
		return nil, err
	}
	return &Document{root: htmlquery.CreateXPathNavigator(root)}, nil
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

// XML is an XML document.
func XML(b []byte) (*Document, error) {
	root, err := xmlquery.Parse(bytes.NewReader(b))
	if err != nil || root.SelectElement("*") == nil {
		return nil, errNotXML
	}
	d := &Document{root: xmlquery.CreateXPathNavigator(root)}
	for _, a := range root.SelectElement("*").Attr {
		switch {
		case a.Name.Space == "xmlns":
			d.spaces = append(d.spaces, space{a.Name.Local, a.Value})
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			d.spaces = append(d.spaces, space{"_", a.Value})
		}
	}
	return d, nil
}
