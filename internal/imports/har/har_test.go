package har

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/imports"
)

func read(text string) (got []string, archive Archive, err error) {
	archive, err = Read("f", strings.NewReader(text), func(r imports.Request) error {
		got = append(got, fmt.Sprintf("%s %s %v %q", r.Method, r.URL, r.Header, r.Body))
		return nil
	}, func(scheme, _ string) { got = append(got, "dropped "+scheme) })
	return got, archive, err
}

const archive = `{"log": {"version": "1.2", "pages": [], "creator": {"name": "WebInspector", "version": "537.36"},
"entries": [
 {"startedDateTime": "2026-01-02T03:04:05.678Z", "request": {"method": "GET", "url": "https://h/", "headers": [
   {"name": ":method", "value": "GET"}, {"name": "accept", "value": "*/*"}, {"name": "Content-Length", "value": "0"}]}},
 {"_fromCache": "memory", "request": {"method": "GET", "url": "https://h/cached", "headers": []}},
 {"request": {"method": "GET", "url": "blob:https://h/1", "headers": []}},
 {"request": {"method": "POST", "url": "https://h/json", "postData": {"mimeType": "application/json", "text": "{}"}}},
 {"request": {"method": "POST", "url": "https://h/form", "postData": {"params": [{"name": "a", "value": "b c"}]}}}
], "comment": {"deep": [1, {"x": null}]}}}`

func TestRead(t *testing.T) {
	got, a, err := read("\ufeff" + archive)
	want := []string{`GET https://h/ [{accept */*}] ""`, "dropped blob:", `POST https://h/json [{Content-Type application/json}] "{}"`,
		`POST https://h/form [] "a=b+c"`}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if a.Entries != 5 || a.Cached != 1 || a.Creator != "WebInspector 537.36" {
		t.Errorf("%+v", a)
	}
}

// An entry that cannot be sent is left out and listed, and so is a header that is none: never the
// whole file. What the file lacks of bodies is counted.
func TestOddEntries(t *testing.T) {
	entry := func(url, more, headers string) string {
		return `{"startedDateTime": "yesterday", "request": {"method": "POST", "url": "` + url + `", "headers": [` + headers + `]` + more + `}}`
	}
	text := `{"log": {"entries": [` + strings.Join([]string{
		entry("http://other/", "", `{"name": "a b", "value": "1"}`),
		entry("http://h/upload", `, "bodySize": 12`, ""),
		entry("http://h/upload2", "", `{"name": "content-length", "value": "7"}`),
		entry("http://h/form", `, "postData": {"mimeType": "multipart/form-data; boundary=x", "params": [{"name": "f", "fileName": "x.png"}]}`, ""),
		entry("http://h/coded", `, "postData": {"mimeType": "x/y", "text": "/wA=", "encoding": "base64"}`, `{"name": "Content-Length", "value": "2"}`),
		entry("http://h/cut", `, "bodySize": 9, "postData": {"mimeType": "x/y", "text": "abc"}`, ""),
		entry("http://h/parts", `, "postData": {"mimeType": "multipart/form-data", "text": "--xyz\r\n--xyz--"}`, ""),
		entry("http://h/line", "", `{"name": "X", "value": "a\nb"}`),
		entry("http://h/a b", "", ""),
		entry("http://h/last", "", `{"name": "X y", "value": "1"}, {"name": "Z", "value": "2"}`),
	}, ",\n") + `]}}`
	c := imports.Collector{Options: imports.Options{Host: imports.Host{Name: "h"}}}
	a, err := Read("f", strings.NewReader(text), c.Add, c.Drop)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := `{"method":"POST","url":"/coded","headers":["Content-Type: x/y"],"body_base64":"/wA="}` + "\n" +
		`{"method":"POST","url":"/cut","headers":["Content-Type: x/y"],"body":"abc"}` + "\n" +
		`{"method":"POST","url":"/parts","headers":["Content-Type: multipart/form-data; boundary=xyz"],"body":"--xyz\r\n--xyz--"}` + "\n" +
		`{"method":"POST","url":"/last","headers":["Z: 2"]}` + "\n"
	if b.String() != want {
		t.Errorf("wrote\n%swant\n%s", b.String(), want)
	}
	dropped := fmt.Sprint(c.Dropped)
	wantDropped := `[{http://other 1 http://other/} {a body that is not in the file 3 http://h/upload} ` +
		`{header "X" contains the end of a line or NUL 1 http://h/line} ` +
		`{"/a b" contains a space or a control character 1 http://h/a b}]`
	if dropped != wantDropped || a.Changed != 1 || fmt.Sprint(a.Nameless) != "[a b X y]" {
		t.Errorf("dropped %s\nwant    %s\n%+v", dropped, wantDropped, a)
	}
}

// What is no HAR file is one error, with its line and column.
func TestFaults(t *testing.T) {
	big := `{"log": {"entries": [` + "\n" + strings.Repeat(`{"request": {"method": "GET", "url": "http://h/", "x": "`+strings.Repeat("y", 1000)+`"}},`+"\n", 12000)
	for _, test := range []struct{ text, want string }{
		{"", "f: is empty"},
		{"hello", "f:1:1: is no JSON: invalid character 'h' looking for beginning of value"},
		{"\n\n[1]", "f:3:1: is no object, as a HAR file has there"},
		{`{"a": 1}`, `f:1:1: has no "log" with "entries", so it is no HAR file`},
		{`{"log": 5}`, "f:1:9: is no object, as a HAR file has there"},
		{`{"log": {"entries": 5}}`, `f:1:21: "entries" is no list`},
		{`{"log": {"entries": []}}`, "f: is a HAR file without an entry"},
		{`{"log": {"entries": [` + "\n" + `  {"request": {}}]}}`, `f:2:3: the entry has no "request" with "method" and "url"`},
		{`{"log": {"entries": [` + "\n" + `  {"request": {"method": 5}}]}}`, "f:2:3: request.method is a number, which a HAR file does not have there"},
		{archive[:400], "f:5:57: ends within the JSON; it was cut off"},
		{archive[:len(archive)-1], "f:9:42: ends within the JSON; it was cut off"},
		{strings.Replace(archive, `"request": {"method": "POST"`, `"request": {"method" "POST"`, 1), "f:7:24: is no JSON: invalid character '\"' after object key"},
		{"\x89PNG\r\n\x1a\n", "f:1:1: is no JSON: invalid character '\\u0089' looking for beginning of value"},
		{big, "f:12002:1: ends within the JSON; it was cut off"},
		{strings.Repeat("x", 12<<20), "f:1:1: is no JSON: invalid character 'x' looking for beginning of value"},
	} {
		_, _, err := read(test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("%.60q\n  is %v\nwant %s", test.text, err, test.want)
		}
	}
}

// Whatever a file holds, it is refused with its place or gives requests.
func FuzzHAR(f *testing.F) {
	f.Add(archive)
	f.Add(`{"log":{"entries":[{"request":{"method":"GET","url":"http://h"}}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c := imports.Collector{}
		if _, err := Read("f", strings.NewReader(text), c.Add, c.Drop); err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%q has no place", err)
		}
	})
}
