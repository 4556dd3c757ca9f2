package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

var seeds = []string{"", "{}", "[]", `{"a": [1, -0.5e+3, "x\u00e9\n", null, true, false]}`, "[1,]",
	`{"a":1,}`, `{"a" 1}`, "[1 2]", "01", "-", "1.", "1e", "tru", `"\x"`, `"\u12g4"`, `"` + "\n" + `"`, `"a`,
	"\xff", "\"\xff\"", ` {"a" : {"b": []}, "a": 2} `, "[[[[", "{,}", "[,]", `"\ud83d\ude00"`, `"José 😀"`,
	"\"\xed\xa0\x80\"", "\"é\xc3\"", `"é\n"`,
	strings.Repeat("[", deepest) + strings.Repeat("]", deepest),
	strings.Repeat("[", deepest+1) + strings.Repeat("]", deepest+1)}

// check compares what is valid, and what strings stand for, with encoding/json.
func check(t *testing.T, b []byte) {
	end, ok := Skip(b, Space(b, 0))
	if end > len(b) {
		t.Fatalf("%q: ends at %d of %d", b, end, len(b))
	}
	ok = ok && Space(b, end) == len(b)
	if ok != json.Valid(b) {
		t.Fatalf("%.80q: valid %v", b, ok)
	}
	var s string
	if text := bytes.TrimSpace(b); ok && text[0] == '"' && json.Unmarshal(text, &s) == nil {
		if got := AppendUnquoted(nil, text); string(got) != s {
			t.Fatalf("%q is %q, want %q", b, got, s)
		}
	}
}

func TestSkip(t *testing.T) {
	for _, s := range seeds {
		check(t, []byte(s))
	}
	for text, want := range map[string]int{`{"a":1 "b"}`: 7, `[1,]`: 3, `{"a":tru}`: 8, `"a` + "\n": 2} {
		if end, ok := Skip([]byte(text), 0); ok || end != want {
			t.Errorf("%q: %d %v, want %d", text, end, ok, want)
		}
	}
}

func FuzzSkip(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(check)
}
