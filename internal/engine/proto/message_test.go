package proto

import (
	"reflect"
	"strings"
	"testing"
)

// Holes lie in the text of a request, in order, and where a value may differ.
func TestCheckHoles(t *testing.T) {
	r := Request{Method: "POST", Path: "/a", Header: []Field{{"X-Id", "ab"}, {"Connection", "close"}},
		Body: []byte("xyz")}
	sized := r
	sized.Header = []Field{{"Content-Length", "3"}}
	star := Request{Method: "OPTIONS", Path: "*"}
	for _, tc := range []struct {
		name    string
		request Request
		holes   []Hole
		want    string // in the error; "": none
	}{
		{"everywhere", r, []Hole{{InPath, 0, 1, 0}, {InPath, 0, 2, 1}, {InHeader, 0, 0, 0}, {InHeader, 0, 0, 1},
			{InHeader, 0, 2, 0}, {InBody, 0, 0, 0}, {InBody, 0, 3, 0}}, ""},
		{"before the path", r, []Hole{{InPath, 0, 0, 0}}, "byte 0 of 2"},
		{"in *", star, []Hole{{InPath, 0, 1, 0}}, "byte 1 of 1"},
		{"behind the path", r, []Hole{{InPath, 0, 3, 0}}, "byte 3 of 2"},
		{"no value", r, []Hole{{InBody, 0, 0, -1}}, "value -1"},
		{"no such field", r, []Hole{{InHeader, 2, 0, 0}}, "in no part"},
		{"no such part", r, []Hole{{Part(7), 0, 0, 0}}, "in no part"},
		{"framing", r, []Hole{{InHeader, 1, 0, 0}}, "Connection: frames"},
		{"a length that is fixed", sized, []Hole{{InBody, 0, 1, 0}}, "Content-Length: the body's length"},
		{"parts out of order", r, []Hole{{InBody, 0, 1, 0}, {InPath, 0, 1, 0}}, "hole 2: comes before"},
		{"places out of order", r, []Hole{{InHeader, 0, 2, 0}, {InHeader, 0, 1, 0}}, "hole 2: comes before"},
	} {
		tc.request.Holes = tc.holes
		err := tc.request.CheckHoles()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// A value may not end the line, or the path, in which it stands.
func TestCheckValue(t *testing.T) {
	for value, fits := range map[string][3]bool{"": {true, true, true}, "a": {true, true, true},
		"a b": {false, true, true}, "a\tb": {false, true, true}, "a\r\nb": {false, false, true},
		"\x00": {false, false, true}, "\x7f": {false, false, true}, "\x01": {false, false, true}, "ä": {true, true, true}} {
		for in, want := range fits {
			if err := CheckValue(Part(in), []byte(value)); (err == nil) != want {
				t.Errorf("%q in part %d: %v", value, in, err)
			}
		}
	}
}

// A message's values stand where its request has holes, and nowhere else.
func TestFilled(t *testing.T) {
	holed := Request{Method: "POST", Authority: "x", Path: "/items/?q=", Body: []byte("abc"),
		Header: []Field{{"X-Id", "a-z"}, {"Accept", "*/*"}, {"X-Two", "="}},
		Holes: []Hole{{In: InPath, At: 7}, {In: InPath, At: 10, Value: 1}, {In: InHeader, At: 2},
			{In: InHeader, Field: 2, At: 0, Value: 1}, {In: InHeader, Field: 2, At: 1}}}
	header := func(id, two string) []Field { return []Field{{"X-Id", id}, {"Accept", "*/*"}, {"X-Two", two}} }
	values := [][]byte{[]byte("1"), []byte("two")}
	for name, c := range map[string]struct {
		fill   *Fill
		path   string
		header []Field
		body   string
	}{
		"values":     {&Fill{Values: values}, "/items/1?q=two", header("a-1z", "two=1"), "abc"},
		"and a body": {&Fill{Values: values, Body: []byte("d")}, "/items/1?q=two", header("a-1z", "two=1"), "d"},
		"empty ones": {&Fill{Values: [][]byte{nil, {}}, Body: []byte{}}, "/items/?q=", header("a-z", "="), ""},
		"none":       {nil, "/items/?q=", header("a-z", "="), "abc"},
	} {
		want := Request{Method: "POST", Authority: "x", Path: c.path, Header: c.header, Body: []byte(c.body)}
		got := holed.Filled(c.fill)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if got.Header[0].Value = "changed"; holed.Header[0].Value != "a-z" {
			t.Fatalf("%s: the header is that of the request with holes", name)
		}
	}
}
