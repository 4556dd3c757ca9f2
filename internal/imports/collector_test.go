package imports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/hole"
)

// written is what a collector writes of requests.
func written(t *testing.T, c *Collector, all ...Request) string {
	t.Helper()
	for _, r := range all {
		if err := c.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSecretsBecomeVariables(t *testing.T) {
	for _, test := range []struct {
		name, want string
		secrets    []string // variable=value
		request    Request
	}{
		{"none", `{"method":"GET","url":"/a?b=c","headers":["Accept: */*","X-Tenant: acme"]}`, nil,
			Request{Method: "GET", URL: "/a?b=c",
				Header: []proto.Field{{Name: "Accept", Value: "*/*"}, {Name: "X-Tenant", Value: "acme"}}}},
		{"headers", `{"method":"GET","url":"/","headers":["Authorization: Bearer {{authorization}}",` +
			`"Cookie: {{cookie}}","X-API-Key: {{x_api_key}}"]}`,
			[]string{"authorization=abc.def", "cookie=a=1; b=2", "x_api_key=k"},
			Request{Method: "GET", URL: "/", Header: []proto.Field{{Name: "Authorization", Value: "Bearer abc.def"},
				{Name: "Cookie", Value: "a=1; b=2"}, {Name: "X-API-Key", Value: "k"}}}},
		{"query", `{"method":"GET","url":"/a?page=1&token={{token}}&next=%2F"}`, []string{"token=s%20t"},
			Request{Method: "GET", URL: "/a?page=1&token=s%20t&next=%2F"}},
		{"json", `{"method":"POST","url":"/","headers":["Content-Type: application/json"],` +
			`"body":"{\"user\": \"me\", \"password\": \"{{password}}\", \"pin\": {{pin}}}"}`,
			[]string{`password=a\"b\u0041`, "pin=123"},
			Request{Method: "POST", URL: "/", Header: []proto.Field{{Name: "Content-Type", Value: "application/json"}},
				Body: []byte(`{"user": "me", "password": "a\"b\u0041", "pin": 123}`)}},
		{"form", `{"method":"POST","url":"/","headers":["Content-Type: application/x-www-form-urlencoded"],` +
			`"body":"user=me&password={{password}}"}`, []string{"password=a%26b"},
			Request{Method: "POST", URL: "/", Header: []proto.Field{{Name: "Content-Type",
				Value: "application/x-www-form-urlencoded"}}, Body: []byte("user=me&password=a%26b")}},
		{"form with blanks", `{"method":"POST","url":"/","headers":["Content-Type: application/x-www-form-urlencoded"],` +
			`"body":"a&password={{password}}&y=1&note=a b"}`, []string{"password=x"},
			Request{Method: "POST", URL: "/", Header: []proto.Field{{Name: "Content-Type",
				Value: "application/x-www-form-urlencoded"}}, Body: []byte("a&password=x&y=1&note=a b")}},
		{"parts", `{"method":"POST","url":"/","body":"--b\r\nContent-Disposition: form-data; name=\"token\"` +
			`\r\n\r\n{{token}}\r\n--b--\r\n"}`, []string{"token=secret"},
			Request{Method: "POST", URL: "/", Parts: true, Body: []byte("--b\r\nContent-Disposition: form-data; " +
				"name=\"token\"\r\n\r\nsecret\r\n--b--\r\n")}},
		{"braces", `{"method":"POST","url":"/\\{{a}}","body":"\\{{uuid}} \\{{{"}`, nil,
			Request{Method: "POST", URL: "/{{a}}", Body: []byte("{{uuid}} {{{")}},
		{"bytes", `{"method":"POST","url":"/","body_base64":"/wB7ew=="}`, nil,
			Request{Method: "POST", URL: "/", Body: []byte("\xff\x00{{")}},
		{"a backslash before braces", `{"method":"POST","url":"/","body":"{{\"\\\\{{\"}}"}`, nil,
			Request{Method: "POST", URL: "/", Body: []byte(`\{{`)}},
		{"a function's name", `{"method":"GET","url":"/","headers":["X: token={{token}}"]}`, []string{"token=abc"},
			Request{Method: "GET", URL: "/", Header: []proto.Field{{Name: "X", Value: "token=abc"}}}},
	} {
		var c Collector
		if got := strings.TrimSuffix(written(t, &c, test.request), "\n"); got != test.want {
			t.Errorf("%s:\n is %s\nwant %s", test.name, got, test.want)
		}
		var secrets []string
		for _, s := range c.Secrets() {
			secrets = append(secrets, s.Variable+"="+s.Value)
		}
		if strings.Join(secrets, "|") != strings.Join(test.secrets, "|") {
			t.Errorf("%s: secrets %q, want %q", test.name, secrets, test.secrets)
		}
	}
}

// Values that differ are variables that differ, and equal ones are one.
func TestVariablesAreUnique(t *testing.T) {
	var c Collector
	got := written(t, &c, Request{Method: "GET", URL: "/?token=a"}, Request{Method: "GET", URL: "/?token=b"},
		Request{Method: "GET", URL: "/x?token=a"})
	for _, want := range []string{"/?token={{token}}", "/?token={{token_2}}", "/x?token={{token}}"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nhas no %s", got, want)
		}
	}
	if n := len(c.Secrets()); n != 2 {
		t.Errorf("%d secrets, want 2", n)
	}
}

// What the file says, with the variables' values, is what the request was.
func FuzzSecrets(f *testing.F) {
	f.Add("/a?token=b", "Cookie", "a=b", "application/json", `{"password": "x\u0041", "n": [1, {"key": 2}]}`)
	f.Add("/{{", "X", `\{{`, "", "user=1&pin=2")
	f.Add("/\uf8d0", "Authorization", "Basic {", "text/plain", "password: {{a}}")
	f.Fuzz(func(t *testing.T, path, name, value, kind, body string) {
		r := Request{Method: "POST", URL: path, Body: []byte(body),
			Header: []proto.Field{{Name: name, Value: value}, {Name: "Content-Type", Value: kind}}}
		var c Collector
		if c.Add(r) != nil {
			return
		}
		expand := func(s string) string {
			var b strings.Builder
			for p := range hole.Pieces(s) {
				value, known := p.Text, p.Kind == hole.Literal
				switch p.Kind {
				case hole.Escaped:
					value, known = "{{", true
				case hole.Hole:
					value, known = hole.Unquote(p.Inside())
				}
				for _, secret := range c.Secrets() {
					if p.Kind == hole.Hole && secret.Variable == p.Inside() {
						value, known = secret.Value, true
					}
				}
				if !known {
					t.Fatalf("%q has %q; there are the variables %+v", s, p.Text, c.Secrets())
				}
				b.WriteString(value)
			}
			return b.String()
		}
		l := c.entries[0].line
		if got := expand(l.URL); c.Origin() == (Host{}) && got != path {
			t.Errorf("path %q became %q, which is %q", path, l.URL, got)
		}
		if got := expand(l.Headers[0]); got != name+": "+value {
			t.Errorf("header %q became %q, which is %q", name+": "+value, l.Headers[0], got)
		}
		if l.Body != nil && expand(*l.Body) != body {
			t.Errorf("body %q became %q, which is %q", body, *l.Body, expand(*l.Body))
		}
		if l.Body == nil && string(l.Base64) != body {
			t.Errorf("body %q became %q", body, l.Base64)
		}
	})
}

func TestHosts(t *testing.T) {
	base, err := ParseBase("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	c := Collector{Options: Options{Host: base}}
	got := written(t, &c,
		Request{Method: "GET", URL: "http://127.0.0.1:8080/a"},
		Request{Method: "GET", URL: "https://127.0.0.1:8080/tls"},
		Request{Method: "GET", URL: "http://127.0.0.1/port"},
		Request{Method: "GET", URL: "http://cdn.example/x.js"},
		Request{Method: "GET", URL: "http://CDN.example:80/y.js"},
		Request{Method: "GET", URL: "/path"},
		Request{Method: "GET", URL: "/logged", Host: "127.0.0.1"},
		Request{Method: "GET", URL: "/other", Host: "localhost"})
	want := `{"method":"GET","url":"/a"}` + "\n" + `{"method":"GET","url":"/path"}` + "\n" +
		`{"method":"GET","url":"/logged"}` + "\n"
	if got != want {
		t.Errorf("wrote\n%swant\n%s", got, want)
	}
	dropped := "[{https://127.0.0.1:8080 1 https://127.0.0.1:8080/tls} {http://127.0.0.1 1 http://127.0.0.1/port} " +
		"{http://cdn.example 2 http://cdn.example/x.js} {localhost 1 localhost/other}]"
	if s := strings.TrimSpace(strings.ReplaceAll(sprint(c.Dropped), "  ", " ")); s != dropped {
		t.Errorf("dropped %s\nwant    %s", s, dropped)
	}
	var all Collector
	written(t, &all, Request{Method: "GET", URL: "http://a/"})
	if err := all.Add(Request{Method: "GET", URL: "http://b/"}); err == nil ||
		!strings.Contains(err.Error(), "--base") {
		t.Errorf("two hosts without --base: %v", err)
	}
	for _, bad := range []string{"", "localhost", "http://h/path", "http://", "http://h?x"} {
		if h, err := ParseBase(bad); err == nil {
			t.Errorf("ParseBase(%q) is %v", bad, h)
		}
	}
}

// The credentials of a URL are sent as every program sends them, unless a header has others.
func TestCredentialsOfURL(t *testing.T) {
	var c Collector
	got := written(t, &c, Request{Method: "GET", URL: "http://user:pass%20word@h/"},
		Request{Method: "GET", URL: "http://user@h/a"},
		Request{Method: "GET", URL: "http://user:x@h/b", Header: []proto.Field{{Name: "authorization", Value: "Bearer abc"}}})
	want := `{"method":"GET","url":"/","headers":["Authorization: Basic {{authorization}}"]}` + "\n" +
		`{"method":"GET","url":"/a","headers":["Authorization: Basic {{authorization_2}}"]}` + "\n" +
		`{"method":"GET","url":"/b","headers":["authorization: Bearer {{authorization_3}}"]}` + "\n"
	if got != want {
		t.Errorf("wrote\n%swant\n%s", got, want)
	}
	for i, value := range []string{"dXNlcjpwYXNzIHdvcmQ=", "dXNlcjo=", "abc"} {
		if s := c.Secrets()[i].Value; s != value {
			t.Errorf("secret %d is %q, want %q", i+1, s, value)
		}
	}
	if err := c.Add(Request{Method: "GET", URL: "http://a%zz:b@h/"}); err == nil {
		t.Error("a wrong escape in a password is taken")
	}
}

// Cookies that responses set come from the jar of who sends a Hurl file.
func TestCookiesOfTheJar(t *testing.T) {
	cookie := func(s string) []proto.Field { return []proto.Field{{Name: "cookie", Value: s}} }
	all := []Request{
		{Method: "GET", URL: "http://h/", Header: cookie("theme=1"), SetCookies: []string{"session", "csrf"}},
		{Method: "GET", URL: "http://h/a", Header: cookie("session=x; theme=1;csrf=y")},
		{Method: "GET", URL: "http://h/b", Header: cookie("session=x")},
	}
	jar := Collector{Options: Options{Jar: true}}
	got := written(t, &jar, all...)
	if want := `{"method":"GET","url":"/","headers":["cookie: {{cookie}}"]}` + "\n" +
		`{"method":"GET","url":"/a","headers":["cookie: {{cookie}}"]}` + "\n" + `{"method":"GET","url":"/b"}` + "\n"; got != want ||
		jar.Secrets()[0].Value != "theme=1" {
		t.Errorf("wrote\n%swant\n%s", got, want)
	}
	var fixed Collector
	if got := written(t, &fixed, all...); strings.Count(got, "cookie: ") != 3 || len(fixed.Secrets()) != 3 {
		t.Errorf("without a jar:\n%s", got)
	}
}

// Failures that were recorded are none in the requests file: each request expects its own.
func TestRecordedStatuses(t *testing.T) {
	get := func(path string, status int) Request {
		return Request{Method: "GET", URL: path, Status: status, Timed: true}
	}
	all := []Request{get("/a", 404), get("/b", 200), get("/a", 410), get("/a", 301), get("/c", 0), get("/a", 404)}
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"in turn": {Options{}, `/a 2xx,3xx,404; /b -; /a 2xx,3xx,410; /a -; /c -; /a 2xx,3xx,404`},
		"merged":  {Options{Merge: true}, `/a 2xx,3xx,404,410; /b -; /c -`},
		"replay":  {Options{Merge: true, Speed: 1}, `/a 2xx,3xx,404; /b -; /a 2xx,3xx,410; /a -; /c -; /a 2xx,3xx,404`},
	} {
		var got []string
		for line := range strings.Lines(written(t, &Collector{Options: test.options}, all...)) {
			var l struct {
				URL    string
				Expect string `json:"expect_status"`
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			got = append(got, l.URL+" "+cmp.Or(l.Expect, "-"))
		}
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%s: %q, want %s", name, got, test.want)
		}
	}
}

func TestMergedAndTimed(t *testing.T) {
	get := func(path string, at time.Duration) Request {
		return Request{Method: "GET", URL: path, At: at, Timed: true}
	}
	merged := Collector{Options: Options{Merge: true}}
	if got, want := written(t, &merged, get("/a", 0), get("/b", 0), get("/b", 0)),
		`{"method":"GET","url":"/b","weight":2}`+"\n"+`{"method":"GET","url":"/a"}`+"\n"; got != want {
		t.Errorf("merged:\n%swant\n%s", got, want)
	}
	timed := Collector{Options: Options{Merge: true, Speed: 2}}
	s := time.Second
	got := written(t, &timed, get("/a", 10*s), get("/b", 10*s), get("/d", 12*s), get("/c", 11*s))
	for i, want := range []string{`"at_s":0,`, `"at_s":0.25,`, `"at_s":0.5,`, `"at_s":1,`} {
		line := strings.Split(got, "\n")[i]
		if !strings.Contains(line, want) || !strings.Contains(line, `"url":"/`+string("abcd"[i])) {
			t.Errorf("line %d is %s, want %s", i+1, line, want)
		}
	}
	exact := Collector{Options: Options{Speed: 1}}
	got = written(t, &exact, get("/a", 10*s), get("/b", 10*s), get("/c", 10*s+time.Millisecond))
	for i, want := range []string{`"at_s":0,`, `"at_s":0,`, `"at_s":0.001,`} {
		if line := strings.Split(got, "\n")[i]; !strings.Contains(line, want) {
			t.Errorf("line %d is %s, want %s", i+1, line, want)
		}
	}
	if err := exact.Add(Request{Method: "GET", URL: "/"}); err == nil {
		t.Error("a request without a time is replayed")
	}
}

func sprint(all []Dropped) string {
	var parts []string
	for _, d := range all {
		b, _ := json.Marshal(d.Count)
		parts = append(parts, "{"+d.Host+" "+string(b)+" "+d.First+"}")
	}
	return "[" + strings.Join(parts, " ") + "]"
}
