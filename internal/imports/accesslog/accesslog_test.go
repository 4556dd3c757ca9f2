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
			"03:04:05.250 PUT /x?y localhost:2015", "JSON"},
		{"caddy with a time in words", "", `{"ts":"2026-01-02T03:04:05.5Z","request":{"method":"GET","uri":"/"},"status":200}`,
			"03:04:05.500 GET /", "JSON"},
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

// Lines of JSON are read by the names of their fields.
func TestJSON(t *testing.T) {
	for line, want := range map[string]string{
		`{"time":"2026-03-04T10:11:12+00:00","method":"GET","uri":"/items?id=1","status":"200"}`:                                                         "10:11:12.000 GET /items?id=1",
		`{"RequestMethod":"GET","RequestPath":"/items?a=1\u0026b=2","DownstreamStatus":200,"RequestHost":"h","StartUTC":"2026-03-04T10:11:12.5Z"}`:       "10:11:12.500 GET /items?a=1&b=2 h",
		`{"msec":"1772619072.123","request":"POST /a?b=1 HTTP/1.1","uri":"/a","status":"201","host":"_"}`:                                                "10:11:12.123 POST /a?b=1",
		`{"@timestamp":1772619072123,"url":{"path":"/p","query":"q=1","domain":"h"},"http":{"request":{"method":"PUT"},"response":{"status_code":200}}}`: "10:11:12.123 PUT /p?q=1 h",
		`{"httpRequest":{"requestMethod":"GET","requestUrl":"https://h/a?b","status":200},"timestamp":"2026-03-04T10:11:12Z"}`:                           "10:11:12.000 GET https://h/a?b",
		`{"method":"GET","path":"/x","time":0.003,"status":200}`:                                                                                         "- GET /x",
		`{"level":"info","ts":1772619072123456789,"verb":"DELETE","path":"/\ud83d\ude00"}`:                                                               "10:11:12.123 DELETE /%F0%9F%98%80",
		`{"start_time":"2026-03-04T10:11:12.000Z","method":"GET","path":"/e","authority":"h:80","response_code":200}`:                                    "10:11:12.000 GET /e h:80",
	} {
		got, log, err := read(t, "", line+"\n")
		if err != nil || len(got) != 1 || got[0] != want || log.Format != "JSON" {
			t.Errorf("%s: %q, %+v, %v; want %q", line, got, log, err, want)
		}
	}
	got, _, err := read(t, `{"u":"$request_uri","s":"$status"}`, `{"u":"/a?b=\"\u0026\ud83d\ude00\\","s":"200"}`)
	if err != nil || len(got) != 1 || got[0] != `- GET /a?b="&%F0%9F%98%80\` {
		t.Errorf("%q, %v", got, err)
	}
}

// A line of another form is skipped, counted and shown, and a format may end where lines go on.
func TestOddLines(t *testing.T) {
	good := `::1 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 200 5 "-" "-"` + "\n"
	for _, test := range []struct {
		name, format, text string
		lines, odd         int
		first              string
	}{
		{"truncated at both ends", "", good[30:] + good + good + good[:60], 2, 2, "f:1:1: is no line of nginx's"},
		{"another form", "", good + "hello\n" + good, 2, 1, `f:2:1: ends where " - " should follow $remote_addr`},
		{"no status", "", good + strings.Replace(good, "200", "OK", 1), 1, 1, `f:2:55: its status, "OK", is none`},
		{"no time", "", good + strings.Replace(good, "02/Jan", "yesterday", 1), 1, 1, `f:2:10: its time, `},
		{"bytes", "", good + "\x00\n", 1, 1, "f:2:1: has a byte that no access log has"},
		{"fields more", "", good + strings.TrimSpace(good) + ` "-" 0.003` + "\n" + good, 3, 0, ""},
		{"JSON among others", "", `{"msg":"starts"}` + "\n" + `{"path":"/a","code":200}` + "\n" + `{"path":"/a` + "\n" + `{"path":"/a","code":200}`, 2, 2, "f:1:1: has no field with the path"},
		{"proxies that scanners look for", "", good + strings.Replace(good, "GET /", "GET http://other/", 1) +
			strings.Replace(good, "GET /", "GET https://another/", 1), 3, 0, ""},
		{"ends at a field", `$remote_addr - - [$time_local] "$request" $status`, good + good, 2, 0, ""},
		{"ends in quotes", `$remote_addr - - [$time_local] "$request"`, good, 1, 0, ""},
	} {
		got, log, err := read(t, test.format, test.text)
		if err != nil || len(got) != test.lines-log.Skipped || log.Lines != test.lines || log.Odd != test.odd ||
			!strings.HasPrefix(log.FirstOdd, test.first) {
			t.Errorf("%s: %q, %+v, %v", test.name, got, log, err)
		}
	}
}

// What is no log is one error with its line and column; a line without a request is skipped.
func TestFaults(t *testing.T) {
	good := `::1 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 200 5 "-" "-"` + "\n"
	for _, test := range []struct{ text, want string }{
		{"", "f: has no line"},
		{"hello\n", "f:1:1: is no line of nginx's or Apache's combined or common log, and no JSON; " +
			`describe it, as in --format '$remote_addr [$time_local] "$request"'`},
		{good + "hello\nhello\n", `f:2:1: ends where " - " should follow $remote_addr`},
		{strings.Repeat("hello\n", 200) + strings.Repeat(good, 300), "f:1:1: is no line of nginx's or Apache's combined or common " +
			`log, and no JSON; describe it, as in --format '$remote_addr [$time_local] "$request"'`},
		{"\x1f\x8b\x08\x00", "f:1:1: has a byte that no access log has; is it compressed?"},
		{strings.Repeat("x", 12<<20), "f:1: the line is longer than 1024 KiB"},
		{good + strings.Repeat("x", 12<<20), "f:2: the line is longer than 1024 KiB"},
		{`{"ts":1,"request":{"uri":"/`, "f:1:1: is no JSON: it ends within the object"},
		{`{"log":{"entries":[]}}`, "f:1:1: has no field with the path of a request, as request_uri, uri, url or path"},
		{`{"method":"GET","url":"/"}`, "f:1:1: has neither a status nor a time, as a log has"},
	} {
		if _, _, err := read(t, "", test.text); err == nil || err.Error() != test.want {
			t.Errorf("%.60q\n  is %v\nwant %s", test.text, err, test.want)
		}
	}
	_, log, err := read(t, "", good+strings.Replace(good, "GET / HTTP/1.1", "-", 1)+
		strings.Replace(good, "GET /", "CONNECT h:1", 1)+strings.Replace(good, "GET", "POST", 1))
	if err != nil || log.Lines != 4 || log.Skipped != 2 || log.First != 2 || log.Bodiless != 1 || len(log.Failed) != 0 {
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
