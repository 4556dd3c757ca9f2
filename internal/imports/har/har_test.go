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
   {"name": ":method", "value": "GET"}, {"name": "accept", "value": "*/*"}, {"name": "Content-Length", "value": "3"}]}},
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
		{strings.Replace(archive, "2026-01-02T03", "yesterday", 1), `f:3:2: startedDateTime "yesterday:04:05.678Z" is no time`},
		{"\x89PNG\r\n\x1a\n", "f:1:1: is no JSON: invalid character '\\u0089' looking for beginning of value"},
		{big, "f:12002:1: ends within the JSON; it was cut off"},
		{strings.Repeat("x", 12<<20), "f:1:1: is no JSON: invalid character 'x' looking for beginning of value"},
		{`{"log": {"entries": [{"request": {"method": "POST", "url": "http://h/", "postData": {"mimeType": "multipart/form-data", "params": []}}}]}}`,
			"f:1:22: postData has the fields of a form with files, but not its text"},
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
