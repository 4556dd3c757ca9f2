package proto

import (
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
		"\x00": {false, false, true}, "\x7f": {false, true, true}, "ä": {true, true, true}} {
		for in, want := range fits {
			if err := CheckValue(Part(in), []byte(value)); (err == nil) != want {
				t.Errorf("%q in part %d: %v", value, in, err)
			}
		}
	}
}
