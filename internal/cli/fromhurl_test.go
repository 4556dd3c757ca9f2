package cli

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/session"
	"dyno/internal/imports"
)

// sentAsHurl is what a Hurl file that a collector writes of a request sends, with the values of its
// secrets. The file has none of them.
func sentAsHurl(t *testing.T, r imports.Request) (sent proto.Request, file string, ok bool) {
	t.Helper()
	const base = "http://shop.test"
	var c imports.Collector
	if c.Add(r) != nil {
		return sent, "", false
	}
	var b bytes.Buffer
	if c.WriteHurl(&b) != nil {
		return sent, "", false
	}
	f, err := hurl.Parse("written.hurl", b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	origin, err := session.ParseOrigin(base)
	if err != nil {
		t.Fatal(err)
	}
	config := session.Config{Files: []*hurl.File{f}, Origin: origin, Variables: []session.Variable{{Name: "base", Value: base}}}
	for _, s := range c.Secrets() {
		config.Variables = append(config.Variables, session.Variable{Name: s.Variable, Value: `"` + s.Value + `"`})
	}
	m, err := session.Compile(config)
	if err != nil {
		return sent, b.String(), false // a value that cannot be sent at all
	}
	if _, err := m.Make(scenario.Share{Users: 1}); err != nil {
		t.Fatal(err)
	}
	sent, err = m.Example(0)
	return sent, b.String(), err == nil
}

// A Hurl file sends what the source has.
func TestFromHurl(t *testing.T) {
	for _, test := range []struct {
		name, want string // what the file has
		request    imports.Request
	}{
		{"plain", "GET {{base}}/a?b=c%20d\nAccept: */*\nX-Odd\\u{7e}: a \\# b \\\\ c\nHTTP 200\n", imports.Request{Method: "GET",
			URL: "/a?b=c%20d", Status: 200, Header: []proto.Field{{Name: "Accept", Value: "*/*"}, {Name: "X-Odd~", Value: `a # b \ c`}}}},
		{"secrets", "GET {{base}}/?token={{token}}\nAuthorization: Bearer {{authorization}}\n", imports.Request{Method: "GET",
			URL: "/?token=abc", Header: []proto.Field{{Name: "Authorization", Value: "Bearer x.y"}}}},
		{"json", "Content-Type: application/json\n{\"a\": [1,\n 2]}\n", imports.Request{Method: "POST", URL: "/",
			Body: []byte("{\"a\": [1,\n 2]}"), Header: []proto.Field{{Name: "Content-Type", Value: "application/json"}}}},
		{"json with a secret", "`{\"password\": \"{{password}}\"}`", imports.Request{Method: "POST", URL: "/",
			Body: []byte(`{"password": "a\"b"}`), Header: []proto.Field{{Name: "Content-Type", Value: "application/json"}}}},
		{"an exponent", "`[1E5]`", imports.Request{Method: "POST", URL: "/", Body: []byte("[1E5]"),
			Header: []proto.Field{{Name: "Content-Type", Value: "application/json"}}}},
		{"form", "`a=1&password={{password}}`", imports.Request{Method: "POST", URL: "/", Body: []byte("a=1&password=x%26y"),
			Header: []proto.Field{{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}}}},
		{"lines", "```\none\n  two`\n```", imports.Request{Method: "PUT", URL: "/", Body: []byte("one\n  two`\n")}},
		{"line ends", "`a\\r\\n\\`b\\t\\u{20}`", imports.Request{Method: "PUT", URL: "/", Body: []byte("a\r\n`b\t ")}},
		{"braces", "GET {{base}}/\\u{7b}\\u{7b}x}}\nX: \\u{7b}\\u{7b}y", imports.Request{Method: "GET", URL: "/{{x}}",
			Header: []proto.Field{{Name: "X", Value: "{{y"}}}},
		{"a backslash before braces", `X: \\\u{7b}\u{7b}y` + "\n`" + `\u{7b}\\\u{7b}\u{7b}\n {"password": "{{password}}"}`,
			imports.Request{Method: "PUT", URL: "/", Header: []proto.Field{{Name: "X", Value: `\{{y`}},
				Body: []byte("{\\{{\n {\"password\": \"x\"}")}},
		{"bytes", "base64,/wA=;", imports.Request{Method: "POST", URL: "/", Body: []byte{0xff, 0}}},
	} {
		got, file, ok := sentAsHurl(t, test.request)
		if !ok || !strings.Contains(file, test.want) {
			t.Errorf("%s: sent %v, the file is\n%s\nand has not\n%s", test.name, ok, file, test.want)
		}
		compareSent(t, file, got, test.request)
	}
}

// compareSent compares what is sent with a request of a source.
func compareSent(t *testing.T, file string, got proto.Request, want imports.Request) {
	t.Helper()
	header := slices.DeleteFunc(got.Header, func(f proto.Field) bool {
		return f.Name == "Accept" && !slices.Contains(want.Header, f)
	})
	if got.Method != want.Method || unescaped(got.Path) != unescaped(want.URL) || string(got.Body) != string(want.Body) ||
		!slices.Equal(header, want.Header) {
		t.Errorf("%s\nsends %+v, want %+v", file, got, want)
	}
}

// unescaped is a path in which what is beyond ASCII is not escaped: Hurl escapes that.
func unescaped(path string) string {
	s, err := url.PathUnescape(path)
	if err != nil {
		return path
	}
	return s
}

// Whatever a request is, its Hurl file can be read, and sends it.
func FuzzFromHurl(f *testing.F) {
	f.Add("/a?token=b", "Cookie", "a=b", "application/json", `{"password": "xA", "n": [1, {"key": 2}]}`)
	f.Add("/{{#", "X-Y", `\{{ "`, "text/plain", "`\\`\n```{{a}}")
	f.Add("/é", "Authorization", "Basic {", "application/json", " {\"a\": 1e5}\n")
	f.Fuzz(func(t *testing.T, path, name, value, kind, body string) {
		r := imports.Request{Method: "POST", URL: path, Body: []byte(body),
			Header: []proto.Field{{Name: name, Value: strings.TrimSpace(value)}, {Name: "Content-Type", Value: strings.TrimSpace(kind)}}}
		if strings.Contains(path, "://") || strings.EqualFold(name, "Accept") || strings.EqualFold(name, "Content-Type") {
			return
		}
		got, file, ok := sentAsHurl(t, r)
		if !ok {
			return
		}
		if body == "" {
			r.Body = nil
		}
		compareSent(t, file, got, r)
	})
}
