package hurl

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Each file of testdata/good is read, and each of testdata/bad is refused where its name says: the
// name begins with line and column.
func TestFiles(t *testing.T) {
	good, _ := filepath.Glob("testdata/good/*.hurl")
	bad, _ := filepath.Glob("testdata/bad/*.hurl")
	if len(good) < 40 || len(bad) < 40 {
		t.Fatalf("%d good files and %d bad ones", len(good), len(bad))
	}
	for _, name := range good {
		if _, err := Parse(name, read(t, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range bad {
		base := strings.Split(filepath.Base(name), "-")
		want := fmt.Sprintf("%s:%s:%s: ", name, base[0], base[1])
		_, err := Parse(name, read(t, name))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want a fault at %s:%s", name, err, base[0], base[1])
		}
	}
}

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// One file has everything that a request and a response can have.
func TestParse(t *testing.T) {
	f, err := Parse("all.hurl", read(t, "testdata/good/everything.hurl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Entries) != 3 || f.Weight != 3 {
		t.Fatalf("%d entries, weight %d", len(f.Entries), f.Weight)
	}
	e := f.Entries[0]
	if d := e.Delay; d == nil || d.Low != time.Second || d.High != 3*time.Second {
		t.Errorf("delay %+v", d)
	}
	for i, got := range []string{
		e.Method, e.URL.Source(), pairs(e.Headers), pairs(e.Query), pairs(e.Cookies),
		pairs(e.BasicAuth), e.Body.Text.Source(), fmt.Sprint(e.Response.Status, e.Response.Version),
		pairs(e.Response.Headers), captures(e.Response), asserts(e.Response),
	} {
		want := []string{
			"POST", "{{base}}/items#1", "Accept=application/json, X-{{name}}=a \t#b",
			"page=2, empty=", "theme=dark", "bob=se cret",
			"{\n  \"id\": {{id}}, \"name\": \"{{name}} \\u00e9\", \"list\": [1, 2.5e3, true, null, []]\n}",
			"2011.1", "Content-Type=application/json",
			"token<jsonpath $.token>, n<regex a(b)c|toInt|nth -1|replaceRegex \\d x>",
			"status == 200; header X-A not contains x; jsonpath $.a isEmpty; " +
				"body == ```\nlong\n```; sha256 == hex,00ff;; cookie a[Path] == \"/\"; " +
				"xpath //a count > 1; jsonpath $.f < -1.5; variable n == {{n}}; body matches /a\\/b/",
		}[i]
		if i == 10 {
			want = "status == 200; header \"X-A\" not contains \"x\"; jsonpath \"$.a\" isEmpty; " +
				"body == ```\nlong\n```; sha256 == hex,00ff;; cookie \"a[Path]\" == \"/\"; " +
				"xpath \"//a\" count > 1; jsonpath \"$.f\" < -1.5; variable \"n\" == {{n}}; " +
				"body matches /a\\/b/"
		}
		if got != want {
			t.Errorf("%d: %q\nwant %q", i, got, want)
		}
	}
	if e := f.Entries[1]; e.Response != nil || len(e.Multipart) != 3 || len(e.Options) != 3 ||
		!e.Multipart[1].File || e.Multipart[1].Value.Source() != "a b.txt" ||
		e.Multipart[2].Type.Source() != "text/plain" {
		t.Errorf("%+v", e)
	}
	if b := f.Entries[2].Body; string(b.Bytes) != "hello" || b.Kind != BytesBody {
		t.Errorf("%+v", b)
	}
}

// Comments say when a request runs again. hurl sees no more than comments in them.
func TestRecurrence(t *testing.T) {
	f, err := Parse("a.hurl", "# Dyno : once\nGET http://a/\n\n#dyno:every 1m30s\n# dyno delay 1s\n# dyno: again on 401\n# dyno is great\n"+
		"# dyno:  again on  419 \nGET http://b/\n\nGET http://c/\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []*Recurrence{{Pos: Pos{1, 1}, Once: true},
		{Pos: Pos{4, 1}, Every: 90 * time.Second, On: []int{401, 419}}, nil}
	for i, e := range f.Entries {
		if !reflect.DeepEqual(e.Again, want[i]) || e.Again.Stays() != (i < 2) {
			t.Errorf("request %d: %+v, want %+v", i+1, e.Again, want[i])
		}
	}
}

func pairs(all []KeyValue) string {
	var s []string
	for _, kv := range all {
		s = append(s, kv.Key.Source()+"="+kv.Value.Source())
	}
	return strings.Join(s, ", ")
}

func captures(r *Response) string {
	var s []string
	for _, c := range r.Captures {
		text := c.Name.Source() + "<" + c.Query.Name + " " + c.Query.Text.Source()
		for _, f := range c.Filters {
			text += "|" + f.Name
			if f.Pattern != nil {
				text += " " + f.Pattern.String()
			}
			if f.N != 0 {
				text += fmt.Sprint(" ", f.N)
			}
			if f.Other.Source() != "" {
				text += " " + f.Other.Source()
			}
		}
		s = append(s, text+">")
	}
	return strings.Join(s, ", ")
}

func asserts(r *Response) string {
	var s []string
	for _, a := range r.Asserts {
		s = append(s, a.Text)
	}
	return strings.Join(s, "; ")
}

// No text makes the reader panic or loop, and what it takes it takes again.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.hurl", "testdata/bad/*.hurl"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			f.Add(read(f, name))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("f.hurl", text)
		if (file == nil) == (err == nil) {
			t.Fatalf("%v, %v", file, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f.hurl:") {
			t.Fatalf("%q has no place", err)
		}
	})
}
