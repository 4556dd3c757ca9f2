package cli

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"net/http/httptest"
)

// Nobody can send a header that says otherwise where a body ends than it does: the server would be
// blamed for what the rest of the body is taken for. It is refused with its place, and nothing is sent.
func TestFramingIsOurs(t *testing.T) {
	const variants = "levels: [{name: one, connections: 1}]\nvariants:\n  a: {url: 'http://127.0.0.1:1'}\n  b: {url: 'http://127.0.0.1:2'}\n"
	served := new(atomic.Int64)
	server := httptest.NewServer(answer(served))
	defer server.Close()
	inFolder(t, map[string]string{
		"chunked.hurl":    "POST {{base}}/up\nTransfer-Encoding: gzip\n`x`\nHTTP 200\n",
		"both.hurl":       "POST {{base}}/up\nContent-Length: 1\nTransfer-Encoding: chunked\n`x`\n",
		"chunks.hurl":     "POST {{base}}/up\nTransfer-Encoding: chunked\n`x`\nHTTP 200\n",
		"length.hurl":     "GET {{base}}/\nHTTP 200\n\nPOST {{base}}/up\nX: 1\ncontent-length: 0\n`x`\n",
		"hole.hurl":       "POST {{base}}/up\nContent-Length: {{n}}\n`x`\n",
		"body.hurl":       "POST {{base}}/up\nContent-Length: 4\n`{{newUuid}}`\n",
		"right.hurl":      "POST {{base}}/up\nContent-Length: 1\n`x`\n",
		"length.jsonl":    `{"url": "/"}` + "\n" + `{"method": "POST", "headers": ["Content-Length: 5"], "body": "x"}`,
		"chunked.jsonl":   `{"method": "POST", "headers": {"transfer-encoding": "gzip"}, "body": "x"}`,
		"two.lua":         `request = function() return "POST / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 1\r\n\r\nx" end`,
		"chunked.lua":     `wrk.headers["Transfer-Encoding"] = "chunked"`,
		"given.yaml":      "version: 1\nname: x\nworkload:\n  request:\n    headers: {Content-Length: \"5\"}\n" + variants,
		"hurl.yaml":       "version: 1\nname: x\nworkload:\n  hurl: length.hurl\n" + variants,
		"requests.yaml":   "version: 1\nname: x\nworkload:\n  requests_file: length.jsonl\n" + variants,
		"targets.txt":     "POST http://h/\nContent-Length: 5\nTransfer-Encoding: chunked\n@x\n\n",
		"x":               "x",
		"archive.har":     `{"log": {"entries": [{"request": {"method": "POST", "url": "http://h/", "headers": [{"name": "Content-Length", "value": "5"}], "postData": {"mimeType": "x/y", "text": "x"}}}]}}`,
		"chunked.headers": "Transfer-Encoding: gzip\n",
	})
	const length, whole = " is not the length of the body, ", `"gzip" is not chunked, the only coding that is sent`
	run := "run -n 1 -c 1 -q --no-save URL "
	hurl := "run -n 1 -c 1 -q --no-save --variable base=URL "
	for args, want := range map[string]string{
		hurl + "chunked.hurl":          "chunked.hurl:2:1: header Transfer-Encoding: " + whole,
		hurl + "--http 2 chunked.hurl": "chunked.hurl:2:1: header Transfer-Encoding: " + whole,
		hurl + "both.hurl":             "both.hurl:2:1: headers Content-Length and Transfer-Encoding: both say where the body ends",
		run + "-H Content-Length:1 -H Transfer-Encoding:chunked -b x": "headers Content-Length and Transfer-Encoding: both say",
		run + "-H Transfer-Encoding:chunked -b x --http 2":            "header Transfer-Encoding: is about a connection of HTTP/1.1, and HTTP/2 and HTTP/3 forbid it",
		run + "-H Transfer-Encoding:chunked -b x --http 1.0":          "HTTP/1.0 has no chunks",
		hurl + "--http 2 chunks.hurl":                                 "header Transfer-Encoding: is about a connection of HTTP/1.1, and HTTP/2 and HTTP/3 forbid it",
		run + "--chunk-size 10 -b x --http 2":                         "--chunk-size: HTTP/2 has no chunks",
		run + "--chunk-size 10 -b x --http 1.0":                       "--chunk-size: HTTP/1.0 has no chunks",
		run + "--chunk-size 0 -b x":                                   `--chunk-size: "0" is below 1`,
		hurl + "length.hurl":                                          `length.hurl:6:1: header content-length: "0"` + length + "1",
		hurl + "--http 2 length.hurl":                                 `length.hurl:6:1: header content-length: "0"` + length + "1",
		hurl + "hole.hurl --variable n=4":                             `hole.hurl:2:1: header Content-Length: "4"` + length + "1",
		hurl + "body.hurl":                                            "body.hurl:1:1: header Content-Length: the body's length differs",
		"scenario check length.hurl":                                  `length.hurl:6:1: header content-length: "0"` + length + "1",
		run + "--requests-file length.jsonl":                          `length.jsonl:2: header Content-Length: "5"` + length + "1",
		run + "--requests-file chunked.jsonl":                         "chunked.jsonl:1:20: header transfer-encoding: " + whole,
		run + "-H Content-Length:5 -b x":                              `header Content-Length: "5"` + length + "1",
		run + "--http 2 -H Content-Length:5 -b x":                     `header Content-Length: "5"` + length + "1",
		run + "--http 3 -H Content-Length:5":                          `header Content-Length: "5"` + length + "0",
		run + "-H @chunked.headers":                                   "chunked.headers:1:1: header Transfer-Encoding: " + whole,
		run + "--script two.lua":                                      `two.lua:1: what request() returned cannot be sent: "POST" "/": header Content-Length: "0"` + length + "1",
		run + "--script chunked.lua":                                  "it has Transfer-Encoding",
		"hey -n 1 -c 1 -H Transfer-Encoding:gzip URL":                 "header Transfer-Encoding: " + whole,
		"lab check given.yaml":                                        "given.yaml:5:15: workload.request.headers.Content-Length: how a body is framed is decided by dyno",
		"lab check hurl.yaml":                                         `length.hurl:6:1: header content-length: "0"` + length + "1",
		"lab check requests.yaml":                                     `length.jsonl:2: header Content-Length: "5"` + length + "1",
	} {
		var stdout, stderr bytes.Buffer
		code := Main(strings.Fields(strings.ReplaceAll(args, "URL", server.URL)), nil, &stdout, &stderr)
		if said := stderr.String(); code != exitUsage || !strings.Contains(said, want) {
			t.Errorf("%s\nexits %d: %s\nwant 2 with %s", args, code, said, want)
		}
	}
	if n := served.Load(); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
	for _, args := range []string{"from vegeta targets.txt", "from har archive.har"} {
		var stdout, stderr bytes.Buffer
		if code := Main(strings.Fields(args), nil, &stdout, &stderr); code != exitOK ||
			strings.Contains(stdout.String(), "Length") || strings.Contains(stdout.String(), "Encoding") {
			t.Errorf("%s\nexits %d: %s%s", args, code, &stdout, &stderr)
		}
	}
	var stdout, stderr bytes.Buffer
	args := strings.ReplaceAll(hurl+"right.hurl", "URL", server.URL)
	if code := Main(strings.Fields(args), nil, &stdout, &stderr); code != exitOK || served.Load() != 1 {
		t.Errorf("the right length exits %d, %d served: %s", code, served.Load(), &stderr)
	}
}
