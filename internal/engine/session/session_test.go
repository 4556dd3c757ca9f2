package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/data"
	"dyno/internal/engine/hurl"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/setting"
)

// base is where the server of the tests is; no test connects to it.
const base = "http://shop.test:8080"

// compiled compiles a file of that text, with variables NAME=VALUE besides base.
func compiled(text string, change func(*Config), variables ...string) (*Maker, error) {
	f, err := hurl.Parse("test.hurl", text)
	if err != nil {
		return nil, err
	}
	origin, err := ParseOrigin(base)
	if err != nil {
		return nil, err
	}
	c := Config{Files: []*hurl.File{f}, Origin: origin, Variables: []Variable{{"base", base}}, Voice: setting.Flag,
		Read: func(_, name string) ([]byte, error) { return os.ReadFile(filepath.Join("testdata", name)) }}
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		c.Variables = append(c.Variables, Variable{name, value})
	}
	if change != nil {
		change(&c)
	}
	return Compile(c)
}

func mustCompile(t testing.TB, text string, change func(*Config), variables ...string) *Maker {
	t.Helper()
	m, err := compiled(text, change, variables...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A reply is what a test answers a step with.
type reply struct {
	status int      // negative: there is no response
	header []string // "name: value"
	body   string
}

func (a reply) response() *scenario.Response {
	r := &scenario.Response{Protocol: "http/1.1", Took: 1500 * time.Millisecond}
	r.Status = uint16(max(a.status, 200))
	if a.status > 0 {
		r.Status = uint16(a.status)
	}
	if a.status < 0 {
		r.Status, r.Failed = 0, "read"
		return r
	}
	for _, h := range a.header {
		name, v, _ := strings.Cut(h, ": ")
		r.AddField([]byte(strings.ToLower(name)), []byte(v), false)
	}
	r.AddBody([]byte(a.body))
	r.BodyBytes = int64(len(a.body))
	return r
}

// A drive runs iterations of one user against replies, and notes what was sent and failed.
type drive struct {
	sent   []string
	thinks []time.Duration
	failed []string // names of checks
	passed int
	errors int      // answers that are errors, but for those after which load ends the iteration
	logins [2]int   // that succeeded: the first of a user, and later ones
	again  int      // answers that are none, because they led to a login
	ended  []string // "" of an iteration that did all, or why it did not
}

func (d *drive) iterate(t testing.TB, m *Maker, u *scenario.User, s scenario.Scenario,
	answer func(r proto.Request) reply) {
	u.Now = u.Due
	step := s.Start(u)
	for !step.End {
		u.Now += int64(step.Think)
		r := m.Requests[step.Message.Request]
		sent := r.Filled(step.Message.Fill)
		d.sent = append(d.sent, shown(sent))
		d.thinks = append(d.thinks, step.Think)
		a := answer(sent).response()
		if a.Failed != "" && !step.KeepGoing {
			step = scenario.Fail()
			break
		}
		if a.Status >= 400 && !step.AnyStatus {
			if a.Failed = "expect"; !step.KeepGoing {
				step = scenario.Fail()
				break
			}
		}
		if step = s.Next(u, a); a.Failed != "" || a.FailedCheck() >= 0 {
			d.errors++
		}
		if a.Again {
			d.again++
		}
		switch a.Login {
		case scenario.FirstLogin:
			d.logins[0]++
		case scenario.LaterLogin:
			d.logins[1]++
		}
		for _, c := range a.Checks() {
			if c.OK {
				d.passed++
			} else {
				d.failed = append(d.failed, m.Checks[c.Check])
			}
		}
		if a.FailedCheck() >= 0 && !step.Failed {
			t.Errorf("check %d failed, and the iteration goes on", a.FailedCheck())
		}
	}
	why := ""
	if step.Failed {
		why = "failed"
	}
	if step.Refused != nil {
		why = step.Refused.Error()
	}
	d.ended = append(d.ended, why)
	u.Iteration++
}

// shown is a request as text.
func shown(r proto.Request) string {
	s := r.Method + " " + r.Path + "\n"
	for _, f := range r.Header {
		if f != (proto.Field{Name: "Accept", Value: "*/*"}) {
			s += f.Name + ": " + f.Value + "\n"
		}
	}
	if r.Body != nil {
		s += "\n" + string(r.Body)
	}
	return s
}

// run runs n iterations of one user.
func run(t testing.TB, m *Maker, n int, answer func(r proto.Request) reply) *drive {
	t.Helper()
	s, u := makeOne(t, m)
	d := &drive{}
	for range n {
		d.iterate(t, m, u, s, answer)
	}
	return d
}

// makeOne makes the scenario of one user.
func makeOne(t testing.TB, m *Maker) (scenario.Scenario, *scenario.User) {
	t.Helper()
	s, err := m.Make(scenario.Share{Users: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s, &scenario.User{Rand: rand.New(rand.NewPCG(1, 2)), Due: 1_700_000_000_123_456_789}
}

// A user logs in, lists and buys; what one step yields is in the next, and each iteration has
// cookies and values of its own.
func TestSession(t *testing.T) {
	table, err := data.Read("u.csv", strings.NewReader("user,age\nann,31\n\"bob \"\"b\"\"\",7\n"), data.MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	m := mustCompile(t, `
POST {{base}}/login
[Form]
user: {{user}}
note: a&b
HTTP 302
[Captures]
where: header "Location"
[Asserts]
cookie "sid" exists

# dyno: delay 1s..2s
GET {{base}}{{prefix}}/items
[Query]
age: {{age}}
q: {{user}}
HTTP 200
[Captures]
id: jsonpath "$.items[1].id"
price: jsonpath "$.items[1].price"
name: jsonpath "$.items[1].name"
[Asserts]
jsonpath "$.items" count == 2
jsonpath "$.items[1].id" == {{id}}

POST {{base}}/buy/{{id}}?at={{newDate}}
X-Where: {{where}}
[BasicAuth]
{{user}}: secret
[Cookies]
theme: dark
{"id": {{id}}, "price": {{price}}, "name": "{{name}}", "who": "{{user}}", "k": "{{key}}", "n": {{n}}}
HTTP *
`, func(c *Config) { c.Data = table }, "prefix=/v1", `key="007"`, "n=007")
	n := 0
	d := run(t, m, 2, func(r proto.Request) reply {
		if n++; n%3 == 1 {
			return reply{302, []string{"Location: /home", "Set-Cookie: sid=s" + fmt.Sprint(n) + "; Path=/; HttpOnly"}, ""}
		}
		return reply{200, nil, `{"items": [{"id": 1}, {"id": 42, "price": 1.50, "name": "a \"b\"\n"}]}`}
	})
	want := []string{
		"POST /login\nContent-Type: application/x-www-form-urlencoded\n\nuser=ann&note=a%26b",
		"GET /v1/items?age=31&q=ann\nCookie: sid=s1\n",
		"POST /buy/42?at=2023-11-14T22:13:20.123456Z\nX-Where: /home\nAuthorization: Basic YW5uOnNlY3JldA==\n" +
			"Content-Type: application/json\nCookie: sid=s1; theme=dark\n\n" +
			`{"id": 42, "price": 1.5, "name": "a \"b\"\n", "who": "ann", "k": "007", "n": 7}`,
		"POST /login\nContent-Type: application/x-www-form-urlencoded\n\nuser=bob%20%22b%22&note=a%26b",
		"GET /v1/items?age=7&q=bob%20%22b%22\nCookie: sid=s4\n",
		"POST /buy/42?at=2023-11-14T22:13:20.123456Z\nX-Where: /home\nAuthorization: Basic Ym9iICJiIjpzZWNyZXQ=\n" +
			"Content-Type: application/json\nCookie: sid=s4; theme=dark\n\n" +
			`{"id": 42, "price": 1.5, "name": "a \"b\"\n", "who": "bob \"b\"", "k": "007", "n": 7}`,
	}
	for i := range want {
		if i >= len(d.sent) || d.sent[i] != want[i] {
			t.Fatalf("request %d of %d:\n%s\nwant\n%s", i, len(d.sent), d.sent[min(i, len(d.sent)-1)], want[i])
		}
	}
	if len(d.failed) > 0 || !slices.Equal(d.ended, []string{"", ""}) || d.passed != 2*9 {
		t.Errorf("failed %q, ended %q, %d passed", d.failed, d.ended, d.passed)
	}
	for i, think := range d.thinks {
		if is := think >= time.Second && think <= 2*time.Second; is != (i%3 == 1) {
			t.Errorf("request %d after %v", i, think)
		}
	}
	if want := []string{"POST /login", "GET {{prefix}}/items", "POST /buy/{{id}}?at={{newDate}}"}; fmt.Sprint(m.Steps) !=
		strings.Replace(fmt.Sprint(want), "GET {{", "GET /{{", 1) {
		t.Errorf("steps %q", m.Steps)
	}
}

// What a file says is sent as curl, which is in hurl, does it.
func TestRequests(t *testing.T) {
	for text, want := range map[string]string{
		"GET {{base}}":                                           "GET /\n",
		"GET {{base}}?a=b\n[Query]\nc: d e":                      "GET /?a=b&c=d%20e\n",
		"GET {{base}}/?\n[Query]\nc: {{x}}":                      "GET /?c=a%20b%2F%26\n",
		"GET " + base + "/a":                                     "GET /a\n",
		"GET HTTP://SHOP.test:8080/a":                            "GET /a\n",
		"GET {{base}}/\nA: 1\nA: {{x}}":                          "GET /\nA: 1\nA: a b/&\n",
		"GET {{base}}/\nAccept: text/html":                       "GET /\nAccept: text/html\n",
		"GET {{base}}/\n[Options]\nheader: B: {{x}}!\nuser: a:b": "GET /\nB: a b/&!\nAuthorization: Basic YTpi\n",
		"GET {{base}}/\n[Cookies]\na: 1\nb: {{x}}":               "GET /\nCookie: a=1; b=a b/&\n",
		"POST {{base}}/\n```\na {{x}}\n```":                      "POST /\n\na a b/&\n",
		"POST {{base}}/\n```raw\na {{x}}\n```":                   "POST /\n\na {{x}}\n",
		"POST {{base}}/\n```json\n[{{n}}]\n```":                  "POST /\nContent-Type: application/json\n\n[12]\n",
		"POST {{base}}/\n`a {{n}}`":                              "POST /\n\na 12",
		"POST {{base}}/\nbase64,AP8=;":                           "POST /\n\n\x00\xff",
		"POST {{base}}/\nhex,00ff;":                              "POST /\n\n\x00\xff",
		"POST {{base}}/\nfile,a.txt;":                            "POST /\n\nfrom a file\n",
		"POST {{base}}/\n<a>{{x}}</a>":                           "POST /\nContent-Type: application/xml\n\n<a>{{x}}</a>",
		"POST {{base}}/\nContent-Type: a/b\n[1, 2]":              "POST /\nContent-Type: a/b\n\n[1, 2]",
		"POST {{base}}/\n```graphql\n{ a(b: \"{{x}}\") }\nvariables { \"n\": {{n}} }\n```": "POST /\n" +
			"Content-Type: application/json\n\n" + `{"query":"{ a(b: \"a b/&\") }","variables":{"n":12}}`,
		"PUT {{base}}/\n[Options]\nvariable: y={{x}}!\n`{{y}}`":                      "PUT /\n\na b/&!",
		"GET {{base}}/\n[Options]\nrepeat: 2\nGET {{base}}/b\n[Options]\nskip: true": "GET /\n|GET /\n",
	} {
		m, err := compiled(text, nil, "x=a b/&", "n=12")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		d := run(t, m, 1, func(proto.Request) reply { return reply{} })
		if got := strings.Join(d.sent, "|"); got != want {
			t.Errorf("%s\nsends %q\nwant  %q", text, got, want)
		}
	}
}

// Cookies are what a server means by the time when a request is sent, and Secure ones go to this
// machine without TLS.
func TestCookies(t *testing.T) {
	const set, after = "GET {{base}}/set\nHTTP 200\n", "GET {{base}}/after\n"
	for text, want := range map[string]string{
		set + after:                          "s=2; m=1",
		set + after + "[Options]\ndelay: 1s": "s=2; m=1",
		set + after + "[Options]\ndelay: 2s": "s=2",
		set + "GET {{base}}/slow\n[Options]\ndelay: 1500ms\n" + after + "[Options]\ndelay: 1500ms": "s=2",
	} {
		m := mustCompile(t, text, func(c *Config) { c.Origin, _ = ParseOrigin("http://127.0.0.1:8080") },
			"base=http://127.0.0.1:8080")
		d := run(t, m, 1, func(r proto.Request) reply {
			if r.Path == "/set" {
				return reply{200, []string{"Set-Cookie: s=2; Secure", "Set-Cookie: m=1; Max-Age=1"}, ""}
			}
			return reply{200, nil, ""}
		})
		if _, got, _ := strings.Cut(d.sent[len(d.sent)-1], "Cookie: "); strings.TrimSpace(got) != want {
			t.Errorf("%s\nsends %q, want %q", text, got, want)
		}
	}
}

// A slash at the end of base stands once before a path, and stays where none follows.
func TestSlashAtTheEndOfBase(t *testing.T) {
	for text, want := range map[string]string{"GET {{base}}/x": "GET /app/x\n", "GET {{base}}x": "GET /app/x\n",
		"GET {{base}}": "GET /app/\n", "# {{base}}x\nGET {{base}}/x": "GET /app/x\n"} {
		m := mustCompile(t, text, func(c *Config) { c.Variables = []Variable{{"base", base + "/app/"}} })
		d := run(t, m, 1, func(proto.Request) reply { return reply{} })
		if got := strings.Join(d.sent, "|"); got != want {
			t.Errorf("%s sends %q, not %q", text, got, want)
		}
	}
}

// A multipart form has fields and files, and a boundary that its type names.
func TestMultipart(t *testing.T) {
	m := mustCompile(t, "POST {{base}}/\n[Multipart]\na\\#: {{x}}\nf: file,a.txt;\ng: file,a.txt; text/html\n", nil, "x=1\r\n2")
	d := run(t, m, 1, func(proto.Request) reply { return reply{} })
	_, boundary, _ := strings.Cut(d.sent[0], "boundary=")
	boundary, _, _ = strings.Cut(boundary, "\n")
	want := "POST /\nContent-Type: multipart/form-data; boundary=BB\n\n--BB\r\nContent-Disposition: form-data; " +
		"name=\"a#\"\r\n\r\n1\r\n2\r\n--BB\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\n" +
		"Content-Type: text/plain\r\n\r\nfrom a file\n\r\n--BB\r\nContent-Disposition: form-data; name=\"g\"; " +
		"filename=\"a.txt\"\r\nContent-Type: text/html\r\n\r\nfrom a file\n\r\n--BB--\r\n"
	if got := strings.ReplaceAll(d.sent[0], boundary, "BB"); got != want || len(boundary) < 30 {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// What cannot be sent or judged is refused before the run, with its place.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"GET {{base}}/{{no}}":                                                "1:16: {{no}} is unknown",
		"GET {{base}}/{{uuid}}":                                              "1:16: {{uuid}} is unknown: give --variable uuid=VALUE, or give data with a column \"uuid\"; {{newUuid}} is",
		"GET {{base}}/{{int 1 2}}":                                           "1:20: }} is expected here: newUuid and newDate, the functions of Hurl, have no arguments",
		"GET http://other.test/":                                             "1:5: the URL names the server http://other.test, but the command line names",
		"GET https://shop.test:8080/":                                        "1:5: the URL names the server https://shop.test:8080",
		"GET http://shop.test:8080.evil.test/":                               "1:5: the URL names the server http://shop.test:8080.evil.test",
		"GET http://a@shop.test:8080/":                                       "1:5: the URL names the server http://a@shop.test:8080",
		"GET /path":                                                          `1:5: "/path" does not begin with http://`,
		"GET {{later}}/\nHTTP 200\n[Captures]\nlater: body":                  "1:7: {{later}} has no value here: a request further down captures it",
		"GET {{base}}/a b":                                                   "1:5: \"/a b\" contains a space",
		"GET {{base}}/\n[Options]\nlocation-trusted: true":                   "3:1: the option \"location-trusted\" is not supported: no load goes",
		"GET {{base}}/\n[Options]\nmax-redirs: -1":                           "3:1: the option \"max-redirs\" without an end is not supported",
		"GET {{base}}/\n[Options]\ninsecure: true":                           "3:1: the option \"insecure\" is not supported: a load has one value for all requests; give --insecure",
		"GET {{base}}/\n[Options]\ndigest: true\nuser: alice":                "4:7: the option \"user\" is not complete: write NAME:PASSWORD",
		"GET {{base}}/\n[Options]\naws-sigv4: aws:amz:a:s3":                  "1:1: the request must be signed, but no user is given: write the option \"user\", or give --auth",
		"GET {{base}}/\n[Options]\nuser: :{{x}}\ndigest: true":               "3:7: the option \"user\" is not complete",
		"GET {{base}}/\n[Options]\nuser: KEY:\naws-sigv4: aws:amz:a:s3":      "3:7: the option \"user\" is not complete",
		"GET {{base}}/\n[Options]\nretry: -1":                                "3:1: the option \"retry\" without an end is not supported",
		"GET {{base}}/\n[Options]\nproxy: a:1":                               "3:1: the option \"proxy\" is not supported",
		"GET {{base}}/\n[Options]\nrepeat: -1":                               "3:1: the option \"repeat\" without an end is not supported",
		"GET {{base}}/\nHTTP 200\n[Asserts]\ncertificate \"Subject\" exists": "4:1: the query \"certificate\" is not supported",
		"GET {{base}}/\nHTTP 200\n[Asserts]\nbody toDate \"%Q\" exists":      "4:13: \"%Q\" is no specifier of a date",
		"GET {{base}}/\nHTTP 200\n[Asserts]\njsonpath \"$[\" exists":         "4:10: \"$[\" is no JSON path",
		"GET {{base}}/\nHTTP 200\n[Asserts]\nxpath \"//[\" exists":           "4:7: ",
		"GET {{base}}/\nHTTP 200\n[Asserts]\nbody matches \"(\"":             "4:14: error parsing regexp",
		"GET {{base}}/\nHTTP 200\n[Asserts]\nbody contains {{no}}":           "4:17: {{no}} is unknown",
		"POST {{base}}/\n[Form]\na: b\n[Multipart]\nc: d":                    "1:1: a request with two bodies is not supported",
		"POST {{base}}/\nfile,none.txt;":                                     "2:6: open testdata/none.txt",
		"POST {{base}}/\n{\"a\": {{x}}}":                                     "2:9: {{x}} stands in JSON without quotes",
		"GET {{base}}/\n[Options]\nvariable: a=1\nGET {{base}}{{a}}":         "4:15: the path begins with a value that is known only during the load",
		"\n# nothing": "has no request",
	} {
		_, err := compiled(text, nil, "x=text")
		want = "test.hurl:" + want
		if strings.HasSuffix(want, "no request") {
			want = "test.hurl: has no request"
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// A value that does not fit its place is not sent: the iteration ends, and says where.
func TestValueThatDoesNotFit(t *testing.T) {
	for text, want := range map[string]string{
		"GET {{base}}/{{v}}":               "test.hurl:4:16: the value contains a space",
		"GET {{base}}/\nX: {{v}}":          "test.hurl:5:6: the value contains a control character",
		"POST {{base}}/\n[{{v}}]":          "test.hurl:5:4: the value stands in JSON without quotes",
		"POST {{base}}/\n`{{l}}`":          "test.hurl:5:4: the value is no text",
		"GET {{base}}/\n[Query]\na: {{v}}": "",
	} {
		m := mustCompile(t, "GET {{base}}/\nHTTP 200\n[Captures]\nv: jsonpath \"$.v\"\nl: jsonpath \"$.l\"\n"+text+"\n", nil)
		d := run(t, m, 1, func(proto.Request) reply { return reply{body: `{"v": "a b\n", "l": [1, 2]}`} })
		want = strings.NewReplacer(":4:", ":6:", ":5:", ":7:").Replace(want)
		if !strings.HasPrefix(d.ended[0], want) || (want == "") != (d.ended[0] == "") {
			t.Errorf("%s: %q, want %q", text, d.ended[0], want)
		}
	}
}

// A step with one capture and two asserts allocates nothing.
func TestNoAlloc(t *testing.T) {
	m, s, u, r := benchmarked(t)
	n := testing.AllocsPerRun(1000, func() {
		step := s.Start(u)
		for !step.End {
			r.Reset()
			r.Status, r.Body = 200, append(r.Body[:0], benchmarkBody...)
			r.BodyBytes = int64(len(r.Body))
			r.AddField([]byte("set-cookie"), []byte("sid=1234567890; Path=/; HttpOnly"), false)
			step = s.Next(u, r)
		}
		if step.Failed {
			t.Fatalf("%+v, checks %v of %q", step, r.Checks(), m.Checks)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations in an iteration of two steps", n)
	}
}

const benchmarkBody = `{"user": {"name": "ann", "roles": ["a", "b"]}, "token": "3f2504e0-4f89-11d3-9a0c", "n": 12.5}`

func benchmarked(t testing.TB) (*Maker, scenario.Scenario, *scenario.User, *scenario.Response) {
	step := `POST {{base}}/buy/{{token}}
Authorization: Bearer {{token}}
{"token": "{{token}}"}
HTTP 200
[Captures]
token: jsonpath "$.token"
[Asserts]
jsonpath "$.user.name" == "ann"
header "Set-Cookie" contains "sid"
`
	m := mustCompile(t, step+"\n"+step, nil, "token=none")
	s, u := makeOne(t, m)
	return m, s, u, &scenario.Response{}
}

// A step with one capture and two asserts.
func BenchmarkStep(b *testing.B) {
	_, s, u, r := benchmarked(b)
	b.ReportAllocs()
	step := s.Start(u)
	for b.Loop() {
		if step.End {
			step = s.Start(u)
		}
		r.Reset()
		r.Status, r.Body = 200, append(r.Body[:0], benchmarkBody...)
		r.BodyBytes = int64(len(r.Body))
		r.AddField([]byte("set-cookie"), []byte("sid=1234567890; Path=/; HttpOnly"), false)
		step = s.Next(u, r)
	}
}
