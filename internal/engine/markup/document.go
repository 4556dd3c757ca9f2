package markup

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"

	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"
	"golang.org/x/net/html"

	"dyno/internal/engine/scenario"
)

var errNotXML = errors.New("the body is no XML")

// A Document is a tree. It does not change.
type Document struct {
	root xpath.NodeNavigator
	// spaces are the namespaces that the root declares. As in hurl, the prefix _ stands for none.
	spaces []space
}

type space struct{ prefix, uri string }

// HTML is an HTML document. The error is scenario.ErrLimits if it exceeds them.
func HTML(b []byte) (*Document, error) {
	b = cutEndTags(b)
	if htmlNodes(b) > 2*scenario.MaxNodes {
		return nil, scenario.ErrLimits
	}
	root, err := html.Parse(bytes.NewReader(b))
	if err != nil || !fits(root) {
		return nil, scenario.ErrLimits // the parser takes all but what is nested too deep
	}
	return &Document{root: htmlquery.CreateXPathNavigator(root)}, nil
}

// htmlNodes is how many nodes and attributes a document may become, or more. The parser opens
// elements such as <b> again in each paragraph, if nothing has ended them where they began: then
// each tag may be as many nodes as there are such elements.
func htmlNodes(b []byte) (n int) {
	z := html.NewTokenizer(bytes.NewReader(b))
	var open []string // the elements, as far as each is ended by the next end that names it
	again := 0        // nodes and attributes of those that may be opened again
	sizes := []int{}
	for n <= 2*scenario.MaxNodes {
		switch z.Next() {
		case html.ErrorToken:
			return n
		case html.StartTagToken:
			name, more := z.TagName()
			element, size := string(name), 1
			for more {
				_, _, more = z.TagAttr()
				size++
			}
			if n += size; void[element] {
				break
			}
			if !formatting[element] {
				size = 0
			}
			again += size
			open, sizes = append(open, element), append(sizes, size)
		case html.EndTagToken:
			name, _ := z.TagName()
			last := len(open) - 1
			if last >= 0 && open[last] == string(name) {
				again -= sizes[last]
				open, sizes = open[:last], sizes[:last]
			}
		}
		n += 1 + again
	}
	return n
}

// formatting are the elements that the parser opens again.
var formatting = map[string]bool{"a": true, "b": true, "big": true, "code": true, "em": true,
	"font": true, "i": true, "nobr": true, "s": true, "small": true, "strike": true, "strong": true,
	"tt": true, "u": true}

// void are the elements that have no end.
var void = map[string]bool{"area": true, "base": true, "br": true, "col": true, "embed": true,
	"hr": true, "img": true, "input": true, "link": true, "meta": true, "param": true,
	"source": true, "track": true, "wbr": true}

// fits reports whether a tree is within the limits.
func fits(root *html.Node) bool {
	level, nodes := 0, 0
	for n := root; ; {
		if nodes += 1 + len(n.Attr); nodes > scenario.MaxNodes || level > scenario.MaxLevels {
			return false
		}
		if n.FirstChild != nil {
			n = n.FirstChild
			level++
			continue
		}
		for n.NextSibling == nil {
			if n = n.Parent; n == nil {
				return true
			}
			level--
		}
		n = n.NextSibling
	}
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

// XML is an XML document in UTF-8. The error is scenario.ErrLimits if it exceeds them.
func XML(b []byte) (*Document, error) {
	d := xml.NewDecoder(bytes.NewReader(b))
	d.CharsetReader = func(_ string, text io.Reader) (io.Reader, error) { return text, nil }
	root := &xmlquery.Node{Type: xmlquery.DocumentNode}
	t := tree{top: root}
	for {
		token, err := d.RawToken()
		switch {
		case err == io.EOF:
			t.flush()
			return t.document(root)
		case err != nil:
			return nil, errNotXML
		}
		if err = t.add(token); err != nil {
			return nil, err
		}
	}
}

// A tree is one that is being built. The library's own builder takes seconds for a list of comments
// and has no limits.
type tree struct {
	top    *xmlquery.Node // the element that is open
	names  []xml.Name     // of those that are, as they are written
	scopes []int          // how many spaces there were before each of them
	spaces []space        // that are known
	text   []byte         // that is not in the tree yet
	nodes  int
}

func (t *tree) add(token xml.Token) error {
	if text, is := token.(xml.CharData); is {
		t.text = append(t.text, text...)
		return nil
	}
	t.flush()
	var err error
	switch token := token.(type) {
	case xml.StartElement:
		err = t.open(token)
	case xml.EndElement:
		err = t.close(token.Name)
	case xml.Comment:
		t.put(&xmlquery.Node{Type: xmlquery.CommentNode, Data: string(token)})
	case xml.ProcInst:
		if token.Target != "xml" {
			t.put(&xmlquery.Node{Type: xmlquery.ProcessingInstruction, Data: token.Target})
		}
	}
	if err == nil && (t.nodes > scenario.MaxNodes || len(t.names) > scenario.MaxLevels) {
		err = scenario.ErrLimits
	}
	return err
}

// put adds a node to the element that is open.
func (t *tree) put(n *xmlquery.Node) {
	t.nodes += 1 + len(n.Attr)
	xmlquery.AddChild(t.top, n)
}

// flush adds the text that was read. That around the root is none of the document's.
func (t *tree) flush() {
	if len(t.text) > 0 && len(t.names) > 0 {
		t.put(&xmlquery.Node{Type: xmlquery.TextNode, Data: string(t.text)})
	}
	t.text = t.text[:0]
}

func (t *tree) open(token xml.StartElement) error {
	if t.nodes+len(token.Attr) > scenario.MaxNodes || len(t.spaces) > scenario.MaxLevels {
		return scenario.ErrLimits
	}
	t.names, t.scopes = append(t.names, token.Name), append(t.scopes, len(t.spaces))
	for _, a := range token.Attr {
		switch {
		case a.Name.Space == "xmlns":
			t.spaces = append(t.spaces, space{a.Name.Local, a.Value})
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			t.spaces = append(t.spaces, space{"", a.Value})
		}
	}
	uri, ok := t.uriOf(token.Name.Space)
	n := &xmlquery.Node{Type: xmlquery.ElementNode, Data: token.Name.Local, Prefix: token.Name.Space,
		NamespaceURI: uri, Attr: make([]xmlquery.Attr, len(token.Attr))}
	for i, a := range token.Attr {
		n.Attr[i] = xmlquery.Attr{Name: a.Name, Value: a.Value}
		if a.Name.Space != "" && a.Name.Space != "xmlns" {
			is := false
			n.Attr[i].NamespaceURI, is = t.uriOf(a.Name.Space)
			ok = ok && is
		}
	}
	if !ok {
		return errNotXML
	}
	t.put(n)
	t.top = n
	return nil
}

// uriOf is the namespace of a prefix.
func (t *tree) uriOf(prefix string) (uri string, ok bool) {
	for i := len(t.spaces) - 1; i >= 0; i-- {
		if t.spaces[i].prefix == prefix {
			return t.spaces[i].uri, true
		}
	}
	if prefix == "xml" {
		return "http://www.w3.org/XML/1998/namespace", true
	}
	return "", prefix == ""
}

func (t *tree) close(name xml.Name) error {
	last := len(t.names) - 1
	if last < 0 || t.names[last] != name {
		return errNotXML
	}
	t.spaces = t.spaces[:t.scopes[last]]
	t.names, t.scopes, t.top = t.names[:last], t.scopes[:last], t.top.Parent
	return nil
}

// document is what was built, if it is whole: it has one root.
func (t *tree) document(root *xmlquery.Node) (*Document, error) {
	var top *xmlquery.Node
	for n := root.FirstChild; n != nil; n = n.NextSibling {
		if n.Type == xmlquery.ElementNode {
			if top != nil {
				return nil, errNotXML
			}
			top = n
		}
	}
	if top == nil || len(t.names) > 0 {
		return nil, errNotXML
	}
	d := &Document{root: xmlquery.CreateXPathNavigator(root)}
	for _, a := range top.Attr {
		switch {
		case a.Name.Space == "xmlns":
			d.spaces = append(d.spaces, space{a.Name.Local, a.Value})
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			d.spaces = append(d.spaces, space{"_", a.Value})
		}
	}
	return d, nil
}
