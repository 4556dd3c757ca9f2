package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A shop is the server that the files of testdata ask: an echo with a few pages. It notes what it
// was sent.
type shop struct {
	behind http.Handler // what answers instead; nil: the shop

	mu    sync.Mutex
	seen  []string
	flaky map[string]int // how often /flaky was asked with a key since take
}

// take returns what was sent since it was last called.
func (s *shop) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen, s.flaky = nil, map[string]int{}
	return seen
}

// fails reports whether the answer to a request of /flaky is a failure: the first two of a key are.
func (s *shop) fails(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.URL.Query().Get("key")
	s.flaky[key]++
	return s.flaky[key] <= 2
}

// ServeHTTP answers a request.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.seen = append(s.seen, noted(r, body))
	s.mu.Unlock()
	if s.behind != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.behind.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == "/flaky" && s.fails(r) {
		http.Error(w, "not yet", http.StatusServiceUnavailable)
		return
	}
	if page := pages[r.URL.Path]; page != nil {
		page(w, r)
		return
	}
	echo(w, r, body)
}

// newForwarder forwards requests to another server, as they are.
func newForwarder(server string) (http.Handler, error) {
	to, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	rewrite := func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
	}
	plain := &http.Transport{DisableCompression: true}
	return &httputil.ReverseProxy{Rewrite: rewrite, Transport: plain}, nil
}

// notCompared are header fields in which two clients may differ: their names, and the length of an
// empty body, which curl leaves out of a POST.
var notCompared = []string{"User-Agent", "Connection"}

// noted is a request as text, without what is not compared and with one boundary.
func noted(r *http.Request, body []byte) string {
	var fields []string
	for name, values := range r.Header {
		for _, v := range values {
			if name == "Cookie" { // those that were set last come first in some versions of libcurl
				all := strings.Split(v, "; ")
				slices.Sort(all)
				v = strings.Join(all, "; ")
			}
			if !slices.Contains(notCompared, name) && (name != "Content-Length" || v != "0") {
				fields = append(fields, name+": "+v)
			}
		}
	}
	slices.Sort(fields)
	s := r.Method + " " + r.RequestURI + " " + r.Host + "\n" + strings.Join(fields, "\n") + "\n\n" +
		string(body)
	if _, rest, found := strings.Cut(r.Header.Get("Content-Type"), "boundary="); found {
		s = strings.ReplaceAll(s, rest, "BOUNDARY")
	}
	return s
}

// echo answers with what was asked, as JSON.
func echo(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Add("X-Echo", r.Method)
	w.Header().Add("X-Echo", r.URL.Path)
	answer := map[string]any{"method": r.Method, "path": r.URL.Path, "query": r.URL.RawQuery,
		"cookie": r.Header.Get("Cookie"), "body": string(body), "bytes": len(body),
		"type": r.Header.Get("Content-Type"), "authorization": r.Header.Get("Authorization")}
	b, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(b)
}

// content is a page of a type.
func content(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}
}

// pages are the paths that answer otherwise.
var pages = map[string]http.HandlerFunc{
	"/json": content("application/json", `{"s": "text", "e": "", "n": 12, "f": 1.5, "big": `+
		`12345678901234567890, "t": true, "z": null, "l": [1, "a", 2.0, [3]], "o": {"a": 1, "b": [2]}, `+
		`"empty": [], "q": "say \"hi\"", "u": "é", "ip": "127.0.0.1", "ip6": "::1", "uuid": `+
		`"3f2504e0-4f89-11d3-9a0c-0305e82c3301", "at": "2026-01-02T03:04:05.678Z", "h": `+
		`"<a href='x'>1</a><a>2</a>", "b64": "aGk=", "csv": "a,b,c", "url": `+
		`"http://a.test/?x=1%202&y=3", "json": "{\"k\": [5]}", "one": [7], "books": `+
		`[{"p": 5}, {"p": 9}]}`),
	"/xml": content("application/xml", `<?xml version="1.0"?><shop><item id="1">pen</item>`+
		`<item id="2">ink</item></shop>`),
	"/ns": content("text/xml", `<a xmlns="urn:a" xmlns:x="urn:x"><b>1</b><x:c>2</x:c></a>`),
	"/html": content("text/html; charset=utf-8", `<!doctype html><html><head><title> Shop </title>`+
		`</head><body><form><input name="csrf" value="tok-1"></form><p>one<p>two</body></html>`),
	"/text":   content("text/plain; charset=utf-8", "line one\nline two é\n"),
	"/latin1": content("text/plain; charset=ISO-8859-1", "caf\xe9"),
	"/binary": content("application/octet-stream", "\x00\x01\xfe\xff"),
	"/empty":  content("text/plain", ""),
	"/gzip": func(w http.ResponseWriter, _ *http.Request) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, `{"zipped": true}`)
		_ = z.Close()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(b.Bytes())
	},
	"/login": func(w http.ResponseWriter, r *http.Request) {
		for _, c := range []string{"sid=s1; Path=/; HttpOnly", "theme=dark; Path=/account; Max-Age=60",
			"longname=1; Path=/", "gone=1; Path=/; Max-Age=0", "other=1; Domain=other.test",
			"expires=1; Path=/; Expires=Wed, 13 Jan 2100 22:23:01 GMT"} {
			w.Header().Add("Set-Cookie", c)
		}
		w.Header().Set("Location", "/home")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusFound)
		fmt.Fprint(w, `{"token": "t-\"1\"", "id": 42, "price": 1.50}`)
	},
	"/redirect": func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(r.FormValue("code"))
		if err != nil {
			status = http.StatusFound
		}
		w.Header().Set("Location", r.FormValue("to"))
		http.SetCookie(w, &http.Cookie{Name: "hop", Value: strconv.Itoa(status), Path: "/"})
		w.WriteHeader(status)
	},
	"/logout": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "sid=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
		w.WriteHeader(http.StatusNoContent)
	},
	"/missing": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "there is nothing", http.StatusNotFound)
	},
	"/broken": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "sorry", http.StatusInternalServerError)
	},
}
