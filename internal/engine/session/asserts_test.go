package session

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// The response to which asserts are put.
var asserted = reply{200, []string{
	"Content-Type: application/json", "X-One: a", "X-Two: a", "X-Two: b", "X-N: 12",
	"Set-Cookie: sid=abc; Path=/p; Max-Age=60; Secure; HttpOnly; SameSite=Lax; Domain=shop.test",
	"Set-Cookie: theme=dark; Expires=Wed, 13 Jan 2100 22:23:01 GMT"},
	`{"s": "text", "e": "", "n": 12, "f": 1.5, "big": 12345678901234567890, "t": true, "z": null, ` +
		`"l": [1, "a", 2.0, [3]], "o": {"a": 1, "b": [2]}, "empty": [], "q": "say \"hi\"", "u": "é",` +
		`"ip": "127.0.0.1", "ip6": "::1", "uuid": "3f2504e0-4f89-11d3-9a0c-0305e82c3301", ` +
		`"at": "2026-01-02T03:04:05.678Z", "h": "<a href='x'>1</a><a>2</a>", "b64": "aGk=", "csv": "a,b,c", ` +
		`"url": "http://a.test/?x=1%202&y=3", "json": "{\"k\": [5]}"}`}

var passing = `
status == 200
status != 201
status > 199
status >= 200
status < 201
status <= 200
status isInteger
version == "1.1"
url == "http://shop.test:8080/where?a=b"
url endsWith "?a=b"
duration < 2000
duration >= 1500
header "X-One" == "a"
header "x-one" matches "^a$"
header "X-Two" count == 2
header "X-Two" contains "b"
header "X-Two" includes "a"
header "X-Two" nth 1 == "b"
header "X-None" not exists
header "X-N" toInt == 12
header "X-N" == "12"
cookie "sid" == "abc"
cookie "sid[Value]" == "abc"
cookie "sid[Path]" == "/p"
cookie "sid[Max-Age]" == 60
cookie "sid[Secure]" exists
cookie "sid[HttpOnly]" exists
cookie "sid[SameSite]" == "Lax"
cookie "sid[Domain]" == "shop.test"
cookie "sid[Expires]" not exists
cookie "theme[Secure]" not exists
cookie "theme[Expires]" isDate
cookie "theme[Expires]" daysAfterNow > 10000
cookie "theme[Expires]" daysBeforeNow < 0
cookie "none" not exists
body contains "text"
body startsWith "{"
body endsWith "}"
body isString
body not isEmpty
bytes count > 100
bytes startsWith hex,7b;
bytes contains hex,22;
rawbytes count > 100
sha256 toHex matches /^[0-9a-f]{64}$/
md5 toHex matches /^[0-9a-f]{32}$/
jsonpath "$.s" == "text"
jsonpath "$.s" == "{{text}}"
jsonpath "$.s" == {{text}}
jsonpath "$.s" == ` + "`text`" + `
jsonpath "$.s" != "other"
jsonpath "$.s" > "tex"
jsonpath "$.s" isString
jsonpath "$.s" not isNumber
jsonpath "$.s" matches /T?ex/
jsonpath "$.s" not matches "^x"
jsonpath "$.e" isEmpty
jsonpath "$.e" exists
jsonpath "$.none" not exists
jsonpath "$.none" not == 1
jsonpath "$.n" == 12
jsonpath "$.n" == 12.0
jsonpath "$.n" == {{n}}
jsonpath "$.n" != "12"
jsonpath "$.n" isNumber
jsonpath "$.n" toString == "12"
jsonpath "$.n" toFloat == 12.0
jsonpath "$.f" isFloat
jsonpath "$.f" == 1.5
jsonpath "$.f" toInt == 1
jsonpath "$.f" > 1
jsonpath "$.big" == 12345678901234567890
jsonpath "$.big" isInteger
jsonpath "$.big" > 12
jsonpath "$.t" == true
jsonpath "$.t" isBoolean
jsonpath "$.t" != false
jsonpath "$.z" == null
jsonpath "$.z" exists
jsonpath "$.l" count == 4
jsonpath "$.l" isList
jsonpath "$.l" isCollection
jsonpath "$.l" contains "a"
jsonpath "$.l" contains 2
jsonpath "$.l" not contains 9
jsonpath "$.l" first == 1
jsonpath "$.l" last count == 1
jsonpath "$.l" nth -2 == 2
jsonpath "$.l[*]" count == 4
jsonpath "$.l[?@ == 'a']" == "a"
jsonpath "$.o" isObject
jsonpath "$.o" isCollection
jsonpath "$.o.b[0]" == 2
jsonpath "$.o" not isEmpty
jsonpath "$.empty" isEmpty
jsonpath "$.empty" count == 0
jsonpath "$.q" == "say \"hi\""
jsonpath "$.u" == "\u{e9}"
jsonpath "$.u" urlEncode == "%C3%A9"
jsonpath "$.u" urlEncode urlDecode == "é"
jsonpath "$.u" utf8Encode == hex,c3a9;
jsonpath "$.u" utf8Encode utf8Decode == "é"
jsonpath "$.u" utf8Encode decode "utf-8" == "é"
jsonpath "$.u" utf8Encode charsetDecode "iso-8859-1" == "Ã©"
jsonpath "$.ip" isIpv4
jsonpath "$.ip6" isIpv6
jsonpath "$.ip" not isIpv6
jsonpath "$.uuid" isUuid
jsonpath "$.s" not isUuid
jsonpath "$.at" isIsoDate
jsonpath "$.s" not isIsoDate
jsonpath "$.at" not isDate
jsonpath "$.h" xpath "string(//a/@href)" == "x"
jsonpath "$.h" xpath "//a" count == 2
jsonpath "$.h" htmlEscape contains "&lt;a"
jsonpath "$.h" htmlEscape htmlUnescape startsWith "<a"
jsonpath "$.h" regex ">(\\d)<" == "1"
jsonpath "$.h" replace "<a>" "" endsWith "2</a>"
jsonpath "$.h" replaceRegex /<[^>]*>/ "" == "12"
jsonpath "$.b64" base64Decode == hex,6869;
jsonpath "$.b64" base64Decode base64Encode == "aGk="
jsonpath "$.b64" base64Decode base64UrlSafeEncode == "aGk"
jsonpath "$.b64" replace "=" "" base64UrlSafeDecode toHex == "6869"
jsonpath "$.csv" split "," count == 3
jsonpath "$.csv" split "," nth {{one}} == "b"
jsonpath "$.url" urlQueryParam "x" == "1 2"
jsonpath "$.json" jsonpath "$.k[0]" == 5
regex "\"n\": (\\d+)" == "12"
regex /"n": (\d+)/ toInt == 12
regex "nothing(x)" not exists
regex "no group" not exists
variable "text" == "text"
variable "n" == 12
variable "n" isInteger
variable "none" not exists
variable "got" == "text"
`

var failing = `
status == 201
status == "200"
status not == 200
version == "2"
header "X-None" exists
header "X-One" == "b"
header "X-Two" == "a"
header "X-One" count == 1
cookie "none" exists
cookie "sid[Path]" == "/"
cookie "sid[Expires]" exists
body == ""
body not contains "text"
body > 1
body not > 1
body startsWith hex,7b;
bytes == hex,00;
bytes startsWith "{"
jsonpath "$.s" == 12
jsonpath "$.n" == "12"
jsonpath "$.n" contains "1"
jsonpath "$.n" not contains "1"
jsonpath "$.n" isEmpty
jsonpath "$.n" not isEmpty
jsonpath "$.n" count == 1
jsonpath "$.n" matches "1"
jsonpath "$.n" not isIpv4
jsonpath "$.none" == 1
jsonpath "$.none" exists
jsonpath "$.none" count == 0
jsonpath "$.none" count not == 0
jsonpath "$.empty" first exists
jsonpath "$.empty" first not exists
jsonpath "$.l" nth 9 exists
jsonpath "$.l" == 4
jsonpath "$.s" includes "t"
jsonpath "$.s" toInt == 1
jsonpath "$.z" not exists
jsonpath "$.f" isInteger
jsonpath "$.big" == 12345678901234567891
jsonpath "$.o" == 1
jsonpath "$.o" toString exists
jsonpath "$.b64" base64UrlSafeDecode exists
jsonpath "$.s" xpath "//a" count == 1
xpath "//a" count == 1
variable "none" exists
variable "n" == "12"
`

// Each assert passes or fails as in hurl, with and without a value that the run knows first.
func TestAsserts(t *testing.T) {
	for _, want := range []bool{true, false} {
		list := map[bool]string{true: passing, false: failing}[want]
		text := "GET {{base}}/where?a=b\nHTTP 200\n[Captures]\ngot: jsonpath \"$.s\"\n[Asserts]\n"
		n := 0
		for line := range strings.Lines(strings.TrimSpace(list)) {
			line = strings.TrimSuffix(line, "\n")
			text += line + "\n"
			n++
		}
		m := mustCompile(t, text, nil, "text=text", "n=12", "one=1")
		d := run(t, m, 1, func(proto.Request) reply { return asserted })
		if want {
			if len(d.failed) > 0 {
				t.Errorf("failed:\n%s", strings.Join(d.failed, "\n"))
			}
			continue
		}
		if len(d.failed) == n {
			continue
		}
		for i, name := range m.Checks[2 : len(m.Checks)-1] {
			if !slices.Contains(d.failed, name) {
				t.Errorf("passed: %d %s", i, name)
			}
		}
	}
}

// A response has a version, a status, headers and a body; nothing else is judged if the status is
// another, or a capture has no value.
func TestResponses(t *testing.T) {
	gz := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return b.String()
	}
	limits := scenario.JudgedWithin
	nested := strings.Repeat("<a>", 1000) + strings.Repeat("</a>", 1000)
	long := "[0" + strings.Repeat(",0", 200_000) + "]"
	for _, tc := range []struct {
		says   string
		answer reply
		failed string // names without the line, joined
	}{
		{"HTTP 200", reply{}, ""},
		{"HTTP/1.1 200", reply{}, ""},
		{"HTTP/2 200", reply{}, "version 2"},
		{"HTTP *", reply{status: 500}, ""},
		{"HTTP 404", reply{status: 404}, ""},
		{"HTTP 200\n[Captures]\nx: body\n[Asserts]\nbody == \"y\"", reply{status: 500}, "status 200"},
		{"HTTP 200\n[Captures]\nx: header \"X\"\n[Asserts]\nbody == \"y\"", reply{}, "capture x"},
		{"HTTP 200\nA: b", reply{header: []string{"A: b"}}, ""},
		{"HTTP 200\nA: b", reply{header: []string{"A: c", "A: b"}}, ""},
		{"HTTP 200\nA: b", reply{header: []string{"A: c"}}, "header A: b"},
		{"HTTP 200\nA: {{base}}", reply{header: []string{"A: " + base}}, ""},
		{"HTTP 200\n`x`", reply{body: "x"}, ""},
		{"HTTP 200\n{\"a\": 1}", reply{body: `{"a":1}`}, "body"},
		{"HTTP 200\n{\"a\": 1}", reply{body: `{"a": 1}`}, ""},
		{"HTTP 200\nhex,ff00;", reply{body: "\xff\x00"}, ""},
		{"HTTP 200\nfile,a.txt;", reply{body: "from a file\n"}, ""},
		{"HTTP 200\n```\na\n```", reply{body: "a\n"}, ""},
		{"HTTP 200\n[Asserts]\nbody == \"x\"", reply{body: "\xff"}, "body == \"x\""},
		{"HTTP 200\n[Asserts]\nbody == \"é\"", reply{header: []string{"Content-Type: text/plain; charset=ISO-8859-1"},
			body: "\xe9"}, ""},
		{"HTTP 200\n[Asserts]\nbody == \"x\"", reply{header: []string{"Content-Encoding: gzip"}, body: gz("x")}, ""},
		{"HTTP 200\n[Asserts]\nbody == \"x\"", reply{header: []string{"Content-Encoding: identity"}, body: "x"}, ""},
		{"HTTP 200\n[Asserts]\nrawbytes count > 10", reply{header: []string{"Content-Encoding: gzip"}, body: gz("x")}, ""},
		{"HTTP 200\n[Asserts]\nbody == \"x\"", reply{header: []string{"Content-Encoding: odd"}, body: "?"}, "body == \"x\""},
		{"HTTP 200\n[Asserts]\nbody == \"y\"\nbody == \"z\"", reply{body: "x"}, "body == \"y\"|body == \"z\""},
		{"HTTP 200\n[Asserts]\nxpath \"string(/a/b)\" == \"1\"\nxpath \"//b\" count == 2\nxpath \"count(//b)\" == 2.0\n" +
			"xpath \"boolean(//c)\" == false\nxpath \"//c\" not exists", reply{body: "<a><b>1</b><b/></a>"}, ""},
		{"HTTP 200\n[Asserts]\nxpath \"string(//_:b)\" == \"1\"\nxpath \"//x:c\" exists",
			reply{body: `<a xmlns="urn:a" xmlns:x="urn:x"><b>1</b><x:c/></a>`}, ""},
		{"HTTP 200\n[Asserts]\nxpath \"normalize-space(//title)\" == \"Hi\"\nxpath \"//p\" count == 2",
			reply{header: []string{"Content-Type: text/html; charset=utf-8"}, body: "<title> Hi </title><p>1<p>2"}, ""},
		{"HTTP 200\n[Asserts]\nxpath \"string(//body)\" == \"a\\n\"", reply{
			header: []string{"Content-Type: text/html"}, body: "<BODY>a\n</BODY>\n</HTML>\n"}, ""},
		{"HTTP 200\n[Asserts]\nxpath \"string(//body)\" == \"a\\n\"", reply{
			header: []string{"Content-Type: text/html"}, body: "<p>a</p>\n"}, ""},
		{"HTTP 200\n[Asserts]\nxpath \"//p\" exists", reply{body: "no XML"}, "xpath \"//p\" exists"},
		{"HTTP 200\n[Asserts]\nxpath \"string(/a)\" exists", reply{body: nested}, limits + "|xpath \"string(/a)\" exists"},
		{"HTTP 200\n[Asserts]\nxpath \"string(/a)\" not exists", reply{body: nested}, limits + "|xpath \"string(/a)\" not exists"},
		{"HTTP 200\n[Captures]\nx: jsonpath \"$[?@ > 1]\"", reply{body: long}, limits + "|capture x"},
		{"HTTP 200\n[Asserts]\njsonpath \"$\" includes 3\njsonpath \"$\" count == 200001", reply{body: long},
			limits + "|jsonpath \"$\" includes 3"},
		{"HTTP 200\n[Asserts]\nbody split \",\" count == 1", reply{body: long}, limits + "|body split \",\" count == 1"},
		{"HTTP 200\n[Asserts]\nbody replace \"0\" \"" + strings.Repeat("x", 30) + "\" exists", reply{body: long},
			limits + "|body replace \"0\" \"" + strings.Repeat("x", 30) + "\" exists"},
		{"HTTP 200\n[Asserts]\nbody replaceRegex \"0\" \"" + strings.Repeat("x", 30) + "\" exists", reply{body: long},
			limits + "|body replaceRegex \"0\" \"" + strings.Repeat("x", 30) + "\" exists"},
		{"HTTP 200\n[Asserts]\nbody matches \"([0a]{500}){2}\"", reply{body: long}, limits + "|body matches \"([0a]{500}){2}\""},
		{"HTTP 200\n[Asserts]\nbody exists", reply{header: []string{"Content-Encoding: gzip"}, body: gz(strings.Repeat("x", DefaultBody+1))},
			"body within 1048576 bytes|body exists"},
		{"HTTP 200\n[Captures]\nx: jsonpath \"$.a\"\n[Asserts]\nvariable \"x\" == \"1\"", reply{body: "no JSON"}, "capture x"},
	} {
		m := mustCompile(t, "GET {{base}}/\n"+tc.says+"\n", nil)
		d := run(t, m, 1, func(proto.Request) reply { return tc.answer })
		var failed []string
		for _, name := range d.failed {
			if _, written, found := strings.Cut(name, ": "); found {
				name = written
			}
			failed = append(failed, name)
		}
		if got := strings.Join(failed, "|"); got != tc.failed || (got == "") != (d.ended[0] == "") {
			t.Errorf("%s\n%q: failed %q, want %q; %s", tc.says, tc.answer.body, got, tc.failed, d.ended[0])
		}
	}
}

// Of a body that is longer than what is kept, an assert cannot tell.
func TestTruncated(t *testing.T) {
	m := mustCompile(t, "GET {{base}}/\nHTTP 200\n[Asserts]\nbody contains \"a\"\nstatus == 200\n",
		func(c *Config) { c.MaxBody = 10 })
	s, u := makeOne(t, m)
	s.Start(u)
	r := reply{body: "aaaaaaaaaa"}.response()
	r.BodyBytes = 11
	if step := s.Next(u, r); !step.Failed {
		t.Error("the iteration goes on")
	}
	want := []bool{true, false, false, true} // status, within, contains, status
	for i, c := range r.Checks() {
		if c.OK != want[i] {
			t.Errorf("check %s: %v", m.Checks[c.Check], c.OK)
		}
	}
	if last := m.Checks[len(m.Checks)-1]; last != "body within 10 bytes" || len(r.Checks()) != 4 {
		t.Errorf("%q, %v", last, r.Checks())
	}
}
