package markup

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/engine/scenario"
)

// Values are those of XPath 1.0, with prefixes in their scope and text as one node.
func TestFind(t *testing.T) {
	const spaced = `<?xml version="1.0" encoding="latin1"?><!DOCTYPE a><!-- c --><x:a xmlns:x="urn:x" xmlns="urn:d" x:k="v">` +
		`<b>é&lt;<![CDATA[<>]]></b><y:c xmlns:y="urn:y" y:q="w"/><x:c/><?p q?></x:a>`
	for _, tc := range []struct {
		html       bool
		text, expr string
		want       any
	}{
		{false, spaced, "string(//_:b)", "é<<>"},
		{false, spaced, "count(//_:b/text())", 1.0},
		{false, spaced, "//x:c", Nodes(1)},
		{false, spaced, "name(/*)", "x:a"},
		{false, spaced, "string(/x:a/@x:k)", "v"},
		{false, spaced, "count(//comment())", 1.0},
		{false, spaced, "local-name(//*[3])", "c"},
		{false, "<a><b>1</b><b>2</b></a>", "(//b)[2] + 1", 3.0},
		{false, "<a><b>1</b><b>2</b></a>", "//b[last()] = 2", true},
		{false, "<a> <b/> </a>", "count(/a/node())", 2.0},
		{true, "<title> Hi </title><p>1<p>2", "count(//p)", 2.0},
		{true, "<b>1<br>2</b><i>x</i>", "string(//i)", "x"},
	} {
		read := XML
		if tc.html {
			read = HTML
		}
		d, err := read([]byte(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		var f Finder
		for range 3 {
			if got, err := f.Find(d, []byte(tc.expr)); err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%s in %s: %v, %v; want %v", tc.expr, tc.text, got, err, tc.want)
			}
		}
	}
	for _, text := range []string{"", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<x:a/>", "<a x:b='c'/>", "<a>&nope;</a>", "<a><b></a></b>"} {
		if d, err := XML([]byte(text)); err == nil || d != nil {
			t.Errorf("%q is XML", text)
		}
	}
}

// What exceeds the limits is not built, and what takes too long is not searched.
func TestLimits(t *testing.T) {
	x := strings.Repeat
	const levels, nodes = scenario.MaxLevels, scenario.MaxNodes
	nested := func(n int) string { return x("<a>", n) + x("</a>", n) }
	var unlike strings.Builder // elements that are opened again in each paragraph
	for i := range 300 {
		fmt.Fprintf(&unlike, "<b c=%d>", i)
	}
	for _, tc := range []struct {
		html       bool
		text, expr string
		fits       bool
	}{
		{false, nested(levels), "string(/a)", true},
		{false, nested(levels + 1), "string(/a)", false},
		{false, nested(140_000), "string(/a)", false},
		{false, "<r>" + x("<a/>", nodes-1) + "</r>", "count(/r/a)", true},
		{false, "<r>" + x("<a/>", nodes) + "</r>", "count(/r/a)", false},
		{false, "<r>" + x("<!---->", nodes) + "</r>", "count(/r/a)", false},
		{false, "<r" + x(" a=''", nodes) + "/>", "count(/r/a)", false},
		{false, "<r>" + x("<![CDATA[ ]]>", nodes) + "</r>", "count(/r/text())", true},
		{false, "<r" + x(" xmlns:a='b'", levels+1) + "><a:b/></r>", "count(//a)", false},
		{false, "<r>" + x("<a>1</a>", 10_000) + "</r>", "count(//a[. = 2])", true},
		{false, "<r>" + x("<a>1</a>", 20_000) + "</r>", "count(//a[count(//a) = 2])", false},
		{false, "<r>" + x("<a>1</a>", 20_000) + "</r>", "count(//a[count(preceding-sibling::a) > 2])", false},
		{true, x("<div>", levels-10), "count(//div)", true},
		{true, x("<div>", levels+10), "count(//div)", false},
		{true, x("<div>", 200_000), "count(//div)", false},
		{true, x("<p>", 40_000), "count(//p)", true},
		{true, x("<p>", nodes), "count(//p)", false},
		{true, x("<p><a href=x>y</a><b>z<br></b></p>", 4_000), "count(//a)", true},
		{true, "<p>" + unlike.String() + x("<p>x", 50_000), "count(//b)", false},
		{true, "<table><td>" + unlike.String() + "</td>" + x("<p>x", 50_000), "count(//b)", false},
	} {
		read := XML
		if tc.html {
			read = HTML
		}
		d, err := read([]byte(tc.text))
		if err == nil {
			var f Finder
			_, err = f.Find(d, []byte(tc.expr))
		}
		if (err == nil) != tc.fits || err != nil && !errors.Is(err, scenario.ErrLimits) {
			t.Errorf("%s in %.60s…: %v", tc.expr, tc.text, err)
		}
	}
	if err := Check(x("(", 100_000)); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}

// Functions that the library has beyond XPath 1.0 and does not bound are refused, also in expressions
// that are made of what a server has sent.
func TestUnboundedFunctions(t *testing.T) {
	d, err := XML([]byte("<a><matches>1</matches><replace/></a>"))
	if err != nil {
		t.Fatal(err)
	}
	for expr, refused := range map[string]bool{
		"//a[matches(., 'x')]": true, "string(replace (//a, '', //a))": true, "string-join(//a, //a)": true,
		"count(//a[not(fn:matches\n(., 'x'))])": true, `concat('"', replace(., "a", "'"))`: true,
		"count(//matches)": false, "//a[. = 'matches(']": false, `//a[. = "replace("]`: false, "//replace": false,
		"//a/matches[(1)]": false, "string(//a[ends-with(., '1')])": false,
	} {
		var f Finder
		_, err := f.Find(d, []byte(expr))
		if is := err != nil && strings.Contains(err.Error(), "is no function of XPath 1.0"); is != refused || !is && err != nil {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

// Whatever a server sends is a tree within the limits, or none.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{"<a b='c'>d</a>", "<a><b/><!-- c --><![CDATA[d]]></a>", "<p><b c=1>x<p>y</b>", "<table><b><tr>x", "<svg><desc><b></svg></b>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var finder Finder
		for _, read := range []func([]byte) (*Document, error){XML, HTML} {
			d, err := read([]byte(text))
			if err != nil {
				continue
			}
			n, err := finder.Find(d, []byte("count(//node())"))
			if all, is := n.(float64); err == nil && (!is || all > scenario.MaxNodes) {
				t.Errorf("%q has %v nodes", text, n)
			}
		}
		if d, err := HTML([]byte(text)); err == nil {
			n, _ := finder.Find(d, []byte("count(//node()) + count(//@*)"))
			if all, _ := n.(float64); int(all) > htmlNodes([]byte(text))+10 {
				t.Errorf("%q has %v nodes, and htmlNodes says %d", text, n, htmlNodes([]byte(text)))
			}
		}
	})
}
