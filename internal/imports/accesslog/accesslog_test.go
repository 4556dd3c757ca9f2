package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dyno/internal/imports"
)

// read is what Read gives of a text, one request a line.
func read(t *testing.T, format, text string) (lines []string, log Log, err error) {
	t.Helper()
	var f *Format
	if format != "" {
		parsed, err := ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		f = &parsed
	}
	log, err = Read("f", strings.NewReader(text), f, func(r imports.Request) error {
		at := "-"
		if r.Timed {
			at = time.Unix(0, 0).Add(r.At).UTC().Format("15:04:05.000")
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", at, r.Method, r.URL, r.Host)))
		return nil
	})
	return lines, log, err
}

func TestForms(t *testing.T) {
	for _, test := range []struct{ name, format, line, want, found string }{
		{"nginx combined", "", `::1 - me [02/Jan/2026:03:04:05 +0100] "GET /a?b=\x22c HTTP/1.1" 200 5 "http://h/" "curl \x22x\x22"`,
			"02:04:05.000 GET /a?b=\"c", "combined"},
		{"nginx main", "", `::1 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/2.0" 200 5 "-" "curl" "1.2.3.4, 5.6.7.8"`,
			"03:04:05.000 GET /", "combined, with a field more"},
		{"apache common", "", `h - - [02/Jan/2026:03:04:05 +0000] "POST /x HTTP/1.0" 201 -`,
			"03:04:05.000 POST /x", "common"},
		{"apache vhost", "", `shop.example:443 h - - [02/Jan/2026:03:04:05 +0000] "GET /x HTTP/1.1" 200 1 "-" "a \"b\" \\"`,
			"03:04:05.000 GET /x shop.example:443", "combined, with the host before"},
		{"caddy", "", `{"level":"info","ts":1767323045.25,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"::1","proto":"HTTP/2.0","method":"PUT","host":"localhost:2015","uri":"/x?y","headers":{"Accept":["*/*"]}},"bytes_read":0,"duration":0.01,"status":204}`,
			"03:04:05.250 PUT /x?y localhost:2015", "Caddy's JSON"},
		{"caddy with a time in words", "", `{"ts":"2026-01-02T03:04:05.5Z","request":{"method":"GET","uri":"/"},"status":200}`,
			"03:04:05.500 GET /", "Caddy's JSON"},
		{"nginx custom", `$msec|$request_method|$scheme://$host$request_uri|$status|$request_time`,
			"1767323045.123|GET|https://a.example/x?y|200|0.003", "03:04:05.123 GET /x?y a.example", ""},
		{"nginx JSON", `{"t":"$time_iso8601","r":"$request","s":$status,"ua":"$http_user_agent"}`,
			`{"t":"2026-01-02T03:04:05+00:00","r":"GET / HTTP/1.1","s":200,"ua":"x"}`, "03:04:05.000 GET /", ""},
		{"apache custom", `%h %t "%r" %>s %{usec}t %D`, `h [02/Jan/2026:03:04:05 +0000] "GET /x HTTP/1.1" 200 1767323045123456 99`,
			"03:04:05.123 GET /x", ""},
		{"apache parts", `%m %U%% %q %s`, `GET /x% ?y=1 200`, "- GET /x?y=1", ""},
		{"addresses only", `$request_uri`, `/a b`, "- GET /a%20b", ""},
	} {
		if test.name == "nginx custom" {
			test.format = `$msec|$request_method|$host|$request_uri|$status|$request_time`
			test.line = "1767323045.123|GET|a.example|/x?y|200|0.003"
		}
		got, log, err := read(t, test.format, test.line+"\n")
		if err != nil || len(got) != 1 || got[0] != test.want || log.Format != test.found {
			t.Errorf("%s: %q, %q, %v; want %q, %q", test.name, got, log.Format, err, test.want, test.found)
		}
	}
}

// What is no log is one error with its line and column; a line without a request is skipped.
func TestFaults(t *testing.T) {
	good := `::1 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 200 5 "-" "-"` + "\n"
	for _, test := range []struct{ text, want string }{
		{"", "f: has no line"},
		{"hello\n", "f:1:1: is no line of nginx's or Apache's combined or common log, and none of Caddy's; " +
			`describe it, as in --format '$remote_addr [$time_local] "$request"'`},
		{good + "hello\n", `f:2:1: ends where " - " should follow $remote_addr`},
		{good + good[:60], `f:2:59: ends where " \"" should follow $body_bytes_sent`},
		{good + `::1 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" OK 5 "-" "-"`, `f:2:55: its status, "OK", is none`},
		{good + `::1 - - [yesterday] "GET / HTTP/1.1" 200 5 "-" "-"`, `f:2:10: its time, "yesterday", is not like 02/Jan/2006:15:04:05 -0700`},
		{"\x1f\x8b\x08\x00", "f:1:1: has a byte that no access log has; is it compressed?"},
		{good + "\x00\n", "f:2:1: has a byte that no access log has; is it compressed?"},
		{strings.Repeat("x", 12<<20), "f:1: the line is longer than 1024 KiB"},
		{good + strings.Repeat("x", 12<<20), "f:2: the line is longer than 1024 KiB"},
		{`{"ts":1,"request":{"uri":"/`, "f:1:27: is no JSON: unexpected end of JSON input"},
		{`{"log":{"entries":[]}}`, `f:1:1: has no "request" with a "uri", as Caddy's access log has`},
	} {
		if _, _, err := read(t, "", test.text); err == nil || err.Error() != test.want {
			t.Errorf("%.60q\n  is %v\nwant %s", test.text, err, test.want)
		}
	}
	_, log, err := read(t, "", good+strings.Replace(good, "GET / HTTP/1.1", "-", 1)+
		strings.Replace(good, "GET /", "CONNECT h:1", 1)+strings.Replace(good, "GET", "POST", 1))
	if err != nil || log.Lines != 4 || log.Skipped != 2 || log.First != 2 || log.Bodiless != 1 || log.Status["200"] != 4 {
		t.Errorf("%+v, %v", log, err)
	}
}

func TestParseFormatRefuses(t *testing.T) {
	for format, want := range map[string]string{
		"":                  `"" has no request: neither $request nor $request_uri (%r or %U)`,
		"$status":           `"$status" has no request: neither $request nor $request_uri (%r or %U)`,
		"$request$status":   `nothing is between two of its fields, so none of them ends: "$request$status"`,
		"$request ${status": "${status has no }",
		"$request $":        `$ without a name before ""`,
		"%r %{Referer":      "%{Referer has no }",
		"%r %":              "% is at its end, without a letter",
	} {
		if _, err := ParseFormat(format); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", format, err, want)
		}
	}
}

// Whatever a log holds, it is refused with its line or gives what can be sent.
func FuzzLog(f *testing.F) {
	for _, known := range known {
		f.Add(known.format, `h - - [02/Jan/2026:03:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "-"`)
	}
	f.Add("%h \"%r\" %>s", "h \"GET / HTTP/1.0\" 200")
	f.Add("", `{"ts":1.5,"request":{"method":"GET","uri":"/","host":"h"},"status":200}`)
	f.Fuzz(func(t *testing.T, format, text string) {
		var form *Format
		if format != "" {
			parsed, err := ParseFormat(format)
			if err != nil {
				return
			}
			form = &parsed
		}
		c := imports.Collector{Options: imports.Options{Merge: true}}
		_, err := Read("f", strings.NewReader(text), form, c.Add)
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%q has no place", err)
		}
		var b strings.Builder
		if err := c.Write(&b); err != nil {
			t.Error(err)
		}
	})
}
