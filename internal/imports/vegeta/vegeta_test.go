package vegeta

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"dyno/internal/imports"
)

func read(text string) (got []string, err error) {
	err = Read("f", strings.NewReader(text), func(r imports.Request) error {
		got = append(got, fmt.Sprintf("%s %s %v %q", r.Method, r.URL, r.Header, r.Body))
		return nil
	})
	return got, err
}

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("body", []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"GET http://h/a\n": `GET http://h/a [] ""`,
		"# a comment\nGET http://h/a\nX: 1\nY:2\n\nPOST http://h/b\r\nContent-Length: 5\r\n@body\r\nDELETE http://h/c":                         `GET http://h/a [{X 1} {Y 2}] "" | POST http://h/b [] "x\n" | DELETE http://h/c [] ""`,
		`{"method":"PUT","url":"http://h/","body":"eA==","header":{"B":["2","3"],"A":["1"]}}` + "\n\n" + `{"method":"GET","url":"http://h/2"}`: `PUT http://h/ [{A 1} {B 2} {B 3}] "x" | GET http://h/2 [] ""`,
	} {
		got, err := read(text)
		if s := strings.Join(got, " | "); err != nil || s != want {
			t.Errorf("%q\n  is %s, %v\nwant %s", text, s, err, want)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		"":                            "f: has no target; write one, as GET http://localhost:8080/",
		"# nothing":                   "f: has no target; write one, as GET http://localhost:8080/",
		"hello":                       `f:1:1: "hello" is no target; write METHOD http://HOST/PATH`,
		"GET /path":                   `f:1:1: "GET /path" is no target; write METHOD http://HOST/PATH`,
		"GET http://h/\nheader":       `f:2:1: "header" is no header; write NAME: VALUE`,
		"GET http://h/\n@missing":     "f:2:1: missing: no such file or directory",
		"GET http://h/\n\nX: 1":       `f:3:1: "X: 1" is no target, METHOD http://HOST/PATH; a body is in a file, @FILE`,
		"POST http://h/\n\n{\"a\":1}": `f:3:1: "{\"a\":1}" is no target, METHOD http://HOST/PATH; a body is in a file, @FILE`,
		"{\"method\":\"GET\"}":        `f:1:1: has no "method" or no "url"`,
		"{\"method\":":                "f:1:10: is no JSON: unexpected end of JSON input",
		"{\"method\":5}":              "f:1:11: method is a number",
		"\x00\x01":                    "f:1:1: has a byte that no file of targets has",
		`{"method":"GET","url":"http://h/","body":"%"}`: "f:1:1: its body is not base64: illegal base64 data at input byte 0",
		strings.Repeat("x", 65<<20):                     "f:1: the line is longer than 65536 KiB",
	} {
		if _, err := read(text); err == nil || err.Error() != want {
			t.Errorf("%.60q\n  is %v\nwant %s", text, err, want)
		}
	}
}

// What is wrong with a target is at its first line, wherever it ends.
func TestPlaceOfATarget(t *testing.T) {
	for _, text := range []string{"GET http://a/\nGET http://b/\nX: 1\n\n# the end", "GET http://a/\nGET http://b/\nGET http://a/"} {
		c := imports.Collector{}
		if err := Read("f", strings.NewReader(text), c.Add); err == nil || !strings.HasPrefix(err.Error(), "f:2: the target is for http://b, ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A body in a line of JSON may be large.
func TestLargeBody(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 3<<20)
	err := Read("f", strings.NewReader(`{"method":"PUT","url":"http://:6060","body":"`+base64.StdEncoding.EncodeToString(body)+`"}`),
		func(r imports.Request) error {
			if !bytes.Equal(r.Body, body) {
				t.Errorf("the body has %d bytes", len(r.Body))
			}
			var c imports.Collector
			if err := c.Add(r); err != nil || c.Origin().String() != "http://127.0.0.1:6060" {
				t.Errorf("%v is %s, %v", r.URL, c.Origin(), err)
			}
			return nil
		})
	if err != nil {
		t.Error(err)
	}
}

// Whatever a file holds, it is refused with its line or gives targets.
func FuzzTargets(f *testing.F) {
	f.Add("GET http://h/\nX: 1\n\nPOST http://h/2\n")
	f.Add(`{"method":"PUT","url":"http://h/","body":"eA==","header":{"A":["1"]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "@") {
			return // names a file
		}
		c := imports.Collector{}
		if err := Read("f", strings.NewReader(text), c.Add); err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%q has no place", err)
		}
	})
}
