package jsonpath

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/theory/jsonpath"
)

// A compliance is a test of the RFC's suite, jsonpath-standard/jsonpath-compliance-test-suite
// at commit 7be7c1f.
type compliance struct {
	Name, Selector string
	Document       json.RawMessage
	Result         []any
	Results        [][]any
	Invalid        bool `json:"invalid_selector"`
}

func suite(t testing.TB) []compliance {
	text, err := os.ReadFile("testdata/cts.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Tests []compliance }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all.Tests
}

func decoded(t *testing.T, texts [][]byte) []any {
	all := []any{}
	for _, text := range texts {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		all = append(all, v)
	}
	return all
}

func TestCompliance(t *testing.T) {
	all, walked := suite(t), 0
	if len(all) != 703 {
		t.Errorf("%d tests", len(all))
	}
	for _, tc := range all {
		p, err := Parse(tc.Selector)
		if (err != nil) != tc.Invalid {
			t.Errorf("%s: %s: %v", tc.Name, tc.Selector, err)
		}
		if err != nil {
			continue
		}
		if p.general == nil {
			walked++
		}
		values, ok := p.Select(nil, tc.Document)
		got, want := decoded(t, values), tc.Results
		if want == nil {
			want = [][]any{append([]any{}, tc.Result...)}
		}
		if !ok || !slices.ContainsFunc(want, func(w []any) bool { return reflect.DeepEqual(w, got) }) {
			t.Errorf("%s: %s: %v, %v; want %v", tc.Name, tc.Selector, got, ok, want)
		}
	}
	if walked < 50 {
		t.Errorf("only %d paths were looked up in the text", walked)
	}
}

func TestSelect(t *testing.T) {
	for _, tc := range []struct{ path, body, want string }{
		{"$.a.b", `{"a": {"b": 1.50}}`, "1.50"},
		{"$['a'][1]", ` {"x":[{}], "a" : [0, "s\n" ] } `, `"s\n"`},
		{"$", ` [1 , 2] `, `[1 , 2]`},
		{"$.é", `{"\u00e9": 1}`, "1"},
		{"$.a.b", `{"a":{"b":1},"a":{"c":2}}`, ""},
		{"$.a", `{"a":1,"a":2}`, "2"},
		{"$.a", `{"a":1} x`, "not JSON"},
		{"$.a", `{"a":1`, "not JSON"},
		{"$.a", ``, "not JSON"},
		{"$.*", `{"a":1e999}`, "1e999"},
		{"$[-1]", `[1,"<&>"]`, `"<&>"`},
		{"$..id", `{"id":1.0} {}`, "not JSON"},
		{"$[?@.n>1].s", `[{"n":1,"s":"a"},{"n":2.5,"s":"b"}]`, `"b"`},
		{"$.a[0]", `{"a":{"0":1}}`, ""},
	} {
		p, err := Parse(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		values, ok := p.Select(nil, []byte(tc.body))
		got := "not JSON"
		if ok {
			got = ""
			for _, v := range values {
				got += string(v)
			}
		}
		if got != tc.want {
			t.Errorf("%s in %s: %s, want %s", tc.path, tc.body, got, tc.want)
		}
	}
}

// kilobyte is an answer of 1 KiB, whose last member is looked for.
func kilobyte() []byte {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for b.Len() < 970 {
		b.WriteString(`{"id":12345,"name":"a name","tags":["one","two"],"price":12.50},`)
	}
	b.WriteString(`null],"session":{"token":"abc"}}`)
	return []byte(b.String())
}

func TestSelectAllocatesNothing(t *testing.T) {
	p, _ := Parse("$.session.token")
	body, to := kilobyte(), make([][]byte, 0, 1)
	n := testing.AllocsPerRun(100, func() { to, _ = p.Select(to[:0], body) })
	if n != 0 || len(to) != 1 || string(to[0]) != `"abc"` {
		t.Errorf("%v allocations, %q", n, to)
	}
}

func BenchmarkSelect(b *testing.B) {
	body := kilobyte()
	for _, path := range []string{"$.session.token", "$..token"} {
		b.Run(path, func(b *testing.B) {
			p, err := Parse(path)
			if err != nil {
				b.Fatal(err)
			}
			to := make([][]byte, 0, 8)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				to, _ = p.Select(to[:0], body)
			}
		})
	}
}

// A path that is looked up in the text selects what the library selects in decoded JSON.
func FuzzSelect(f *testing.F) {
	for _, tc := range suite(f) {
		if p, err := Parse(tc.Selector); err == nil && p.general == nil {
			f.Add(tc.Selector, string(tc.Document))
		}
	}
	f.Add("$.a", `{"\u0061":1,"a":[1e5]}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		p, err := Parse(path)
		if err != nil || p.general != nil {
			return
		}
		var all any
		want := []any{}
		valid := json.Valid([]byte(body))
		if valid && json.Unmarshal([]byte(body), &all) != nil {
			return // a number that is too large for a float64
		}
		values, ok := p.Select(nil, []byte(body))
		if ok != valid {
			t.Fatalf("%q: JSON %v", body, ok)
		}
		if !ok || strings.ToValidUTF8(body, "") != body {
			return // names with U+FFFD for what is no UTF-8
		}
		for _, v := range jsonpath.MustParse(path).Select(all) {
			want = append(want, v)
		}
		if got := decoded(t, values); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q in %q: %v, want %v", path, body, got, want)
		}
	})
}
