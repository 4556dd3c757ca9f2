package requests

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/fault"
)

func base(t testing.TB) Defaults {
	t.Helper()
	u, err := Parse("http://127.0.0.1:8080/base")
	if err != nil {
		t.Fatal(err)
	}
	return Defaults{URL: u}
}

// show is a request in a line.
func show(r loadplan.Request) string {
	s := fmt.Sprintf("%s %s%s", r.Method, r.Authority, r.Path)
	for _, f := range r.Header {
		s += fmt.Sprintf(" [%s: %s]", f.Name, f.Value)
	}
	if len(r.Body) > 0 {
		s += fmt.Sprintf(" %q", r.Body)
	}
	return s + fmt.Sprintf(" ×%d %q", r.Weight, r.Name)
}

func compareLines(t *testing.T, got []loadplan.Request, want ...string) {
	t.Helper()
	var lines []string
	for _, r := range got {
		lines = append(lines, show(r))
	}
	if g, w := strings.Join(lines, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("is\n%s\nwant\n%s", g, w)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != strings.TrimSpace(want) {
		t.Errorf("error\n%v\nwant\n%s", err, strings.TrimSpace(want))
	}
}

func TestOne(t *testing.T) {
	d := base(t)
	d.Header = []proto.Field{{Name: "Accept", Value: "*/*"}}
	var body []byte
	one := func(want string) {
		t.Helper()
		got, err := Pair(d, []URL{d.URL}, [][]byte{body})
		if err != nil {
			t.Fatal(err)
		}
		compareLines(t, got, want)
	}
	one(`GET 127.0.0.1:8080/base [Accept: */*] ×1 "GET /base"`)
	body = []byte("x")
	one(`POST 127.0.0.1:8080/base [Accept: */*] "x" ×1 "POST /base"`)
	d.Method, d.URL.Basic = "PUT", "Basic eA=="
	one(`PUT 127.0.0.1:8080/base [Authorization: Basic eA==] [Accept: */*] "x" ×1 "PUT /base"`)
	d.Header = []proto.Field{{Name: "authorization", Value: "Bearer y"}}
	one(`PUT 127.0.0.1:8080/base [authorization: Bearer y] "x" ×1 "PUT /base"`)
}

func TestURLsAndBodies(t *testing.T) {
	d := base(t)
	urls, err := URLs("urls", strings.NewReader(
		"# a comment\r\n/a\r\n\n  /b?c#d\nhttp://127.0.0.1:8080/e\nhttp://u@127.0.0.1:8080"), d.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := Bodies("bodies", strings.NewReader("one\r\n\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Pair(d, urls, bodies)
	if err != nil {
		t.Fatal(err)
	}
	compareLines(t, got,
		`POST 127.0.0.1:8080/a "one" ×1 "POST /a"`,
		`POST 127.0.0.1:8080/b?c ×1 "POST /b?c"`,
		`POST 127.0.0.1:8080/e "one" ×1 "POST /e"`,
		`POST 127.0.0.1:8080/ [Authorization: Basic dTo=] ×1 "POST /"`)

	got, err = Pair(d, urls[:3], bodies)
	if err != nil || len(got) != 6 {
		t.Errorf("3 URLs and 2 bodies are %d requests, %v", len(got), err)
	}
	_, err = Pair(d, urls[:4], make([][]byte, MaxRequests/2+1))
	wantError(t, err, "4 URLs and 524289 bodies pair to 2097156 requests; "+
		"at most 1048576 are possible: make one list as long as the other")
}

func TestURLsFaults(t *testing.T) {
	_, err := URLs("urls.txt", strings.NewReader(strings.Join([]string{
		"/fine", "no/slash", "http://elsewhere/", "https://127.0.0.1:8080/", "http://127.0.0.1/",
		"/a b", "http://127.0.0.1:8080/fine", "http+unix:///s:/"}, "\n")), base(t).URL, nil)
	wantError(t, err, `
urls.txt:2: "no/slash" is neither a path, which starts with /, nor a URL
urls.txt:3: leads to http://elsewhere, and this run may load only http://127.0.0.1:8080
urls.txt:4: leads to https://127.0.0.1:8080, and this run may load only http://127.0.0.1:8080
urls.txt:5: leads to http://127.0.0.1, and this run may load only http://127.0.0.1:8080
urls.txt:6: "/a b" has a space; write %20
urls.txt:8: leads to http+unix:///s:, and this run may load only http://127.0.0.1:8080`)

	_, err = URLs("urls.txt", strings.NewReader("\n# nothing\n"), base(t).URL, nil)
	wantError(t, err, "urls.txt: has no URL; write one path or URL a line")
	_, err = Bodies("bodies.txt", strings.NewReader(""), nil)
	wantError(t, err, "bodies.txt: has no body; write one a line")
	_, err = URLs("urls.txt", strings.NewReader(strings.Repeat("x\n", 100)), base(t).URL, nil)
	s := err.Error()
	if !strings.HasSuffix(s, "\nurls.txt: and 90 more") || strings.Count(s, "\n") != 10 {
		t.Errorf("100 faults are\n%s", s)
	}
	_, err = Bodies("bodies.txt", io.MultiReader(strings.NewReader("x\n"),
		iotest.ErrReader(errors.New("the disk is gone"))), nil)
	wantError(t, err, "bodies.txt: reading: the disk is gone")
	_, err = Bodies("bodies.txt", strings.NewReader("x\n"+strings.Repeat("y", MaxLine+1)), nil)
	wantError(t, err, "bodies.txt:2: the line is longer than 64 MiB")
}

// What is over a limit ends the reading, at once.
func TestExcess(t *testing.T) {
	rest := iotest.ErrReader(errors.New("it was read to its end"))
	lines := strings.NewReader(strings.Repeat("/\n", MaxRequests+64<<10))
	_, err := Bodies("f", io.MultiReader(lines, rest), nil)
	wantError(t, err, "f:1048577: there are more than 1048576 bodies")
	lines.Reset(strings.Repeat("/\n", MaxRequests+64<<10))
	_, err = URLs("f", io.MultiReader(lines, rest), base(t).URL, nil)
	wantError(t, err, "f:1048577: there are more than 1048576 URLs")
}

// Some editors begin a file with a byte order mark.
func TestByteOrderMark(t *testing.T) {
	const mark = "\ufeff"
	d := base(t)
	urls, err := URLs("f", strings.NewReader(mark+"/a"), d.URL, nil)
	if err != nil || len(urls) != 1 || urls[0].Path != "/a" {
		t.Errorf("URLs are %v, %v", urls, err)
	}
	bodies, err := Bodies("f", strings.NewReader(mark+"a\n"+mark), nil)
	if err != nil || len(bodies) != 2 || string(bodies[0]) != "a" || string(bodies[1]) != mark {
		t.Errorf("bodies are %q, %v", bodies, err)
	}
	all, err := Read("f", strings.NewReader(mark+`{"url":"/a"}`), d)
	if err != nil || len(all) != 1 || all[0].Path != "/a" {
		t.Errorf("requests are %v, %v", all, err)
	}
}

// How a body is framed is ours to say.
func TestFraming(t *testing.T) {
	d := base(t)
	for value, want := range map[string]string{
		"3": "", "4": `header Content-Length: "4" is not the length of the body, 3; leave it out, ` +
			"it is sent when needed",
	} {
		d.Header = []proto.Field{{Name: "Content-Length", Value: value}}
		_, err := Pair(d, []URL{d.URL}, [][]byte{[]byte("abc")})
		if want != "" {
			wantError(t, err, want)
		} else if err != nil {
			t.Error(err)
		}
	}
	_, err := Field("transfer-encoding: gzip, chunked")
	wantError(t, err, `header transfer-encoding: "gzip, chunked" is not chunked, the only coding that is sent`)
}

func TestRead(t *testing.T) {
	d := base(t)
	d.Header = []proto.Field{{Name: "Accept", Value: "*/*"}, {Name: "X-Run", Value: "1"}}
	got, err := Read("mix", strings.NewReader(strings.Join([]string{
		`{}`,
		``,
		` { "url" : "/a" , "weight":3,"name":"a" } `,
		`{"method":"DELETE","url":"http://127.0.0.1:8080/d","headers":{"x-run":"2","Cookie":["a","b"]}}`,
		`{"body":"é\n","headers":["Content-Type: a/b"]}`,
		`{"method":"OPTIONS","url":"*"}`,
	}, "\n")), d)
	if err != nil {
		t.Fatal(err)
	}
	compareLines(t, got,
		`GET 127.0.0.1:8080/base [Accept: */*] [X-Run: 1] ×1 "GET /base"`,
		`GET 127.0.0.1:8080/a [Accept: */*] [X-Run: 1] ×3 "a"`,
		`DELETE 127.0.0.1:8080/d [x-run: 2] [Cookie: a] [Cookie: b] [Accept: */*] ×1 "DELETE /d"`,
		`POST 127.0.0.1:8080/base [Content-Type: a/b] [Accept: */*] [X-Run: 1] "é\n" ×1 "POST /base"`,
		`OPTIONS 127.0.0.1:8080* [Accept: */*] [X-Run: 1] ×1 "OPTIONS *"`)
}

// What a line expects is written again as it is read.
func TestExpectStatus(t *testing.T) {
	for text, want := range map[string]string{`404`: `["404"]`, `"2xx,404"`: `["2xx","404"]`, `[200,"3xx"]`: `["200","3xx"]`,
		`"any"`: `["any"]`} {
		all, err := Read("f", strings.NewReader(`{"url":"/","expect_status":`+text+`}`), base(t))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		p := loadplan.Plan{Requests: all, Target: base(t).URL.Target}
		if err := p.WriteRequests(&b); err != nil || !strings.Contains(b.String(), `"expect_status":`+want) {
			t.Errorf("%s is %s, %v", text, &b, err)
		}
		again, err := Read("f", strings.NewReader(b.String()), base(t))
		if err != nil || !reflect.DeepEqual(again[0].Expect, all[0].Expect) {
			t.Errorf("%s: %+v, %v", text, again, err)
		}
		written, _ := json.Marshal(all[0])
		var back loadplan.Request
		if err := json.Unmarshal(written, &back); err != nil || !reflect.DeepEqual(back.Expect, all[0].Expect) {
			t.Errorf("%s: %s is %+v, %v", text, written, back.Expect, err)
		}
	}
}

func TestReadFaults(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{`GET /`, `1:1: is not a JSON object, as in {"url": "/"}`},
		{`[]`, `1:1: is not a JSON object, as in {"url": "/"}`},
		{`{"url":"/"`, `1:11: the line ends within the object`},
		{`{"url":`, `1:8: the line ends within the object`},
		{`{"url" "/"}`, `1:8: invalid character '"' after object key`},
		{`{"url":"/",}`, `1:12: invalid character '}' looking for beginning of object key string`},
		{`{"url":"/"} {}`, `1:13: invalid character '{' after top-level value`},
		{`{"ulr":"/"}`, `1:2: unknown key "ulr"; there are at_s, body, body_base64, expect_body, expect_header, expect_status, headers, method, name, timeout, url, weight`},
		{`{"url":"\x"}`, `1:10: invalid character 'x' in string escape code`},
		{`{"url":"/","url":"/"}`, `1:12: key "url" is given twice`},
		{`{"url":1}`, `1:2: url is a number; a string is wanted`},
		{`{"url":null}`, `1:2: url is null; a string is wanted`},
		{`{"url":"x"}`, `1:2: "x" is neither a path, which starts with /, nor a URL`},
		{`{"url":"*"}`, `1: path "*" does not begin with /`},
		{`{"method":"G T"}`, `1:2: method "G T" is not a token`},
		{`{"body":1}`, `1:2: body is a number; a string, an object or a list is wanted`},
		{`{"weight":0}`, `1:2: weight 0 is not an integer from 1 to 1000000`},
		{`{"weight":1.5}`, `1:2: weight 1.5 is not an integer from 1 to 1000000`},
		{`{"weight":"1"}`, `1:2: weight "1" is not an integer from 1 to 1000000`},
		{`{"headers":"x"}`, `1:2: headers is a string; {"Name": "value"} or ["Name: value"] is wanted`},
		{`{"headers":{"a":1}}`, `1:2: a is a number; a string is wanted`},
		{`{"headers":{"a b":"c"}}`, `1:2: header name "a b" is not a token`},
		{`{"headers":["a"]}`, `1:2: is not a header; write 'Name: value'`},
		{`{"headers":{"a":"b\r\nc: d"}}`, `1:2: header a: its value contains a control character`},
		{`{"expect_status":[]}`, `1:2: expect_status names no status; write one, as 404 or "2xx,404", or any`},
		{`{"expect_status":[200,{}]}`, `1:2: expect_status: "{}" is not a status; write codes from 100 to 599 and classes, as 200,204 or 2xx, or any`},
		{`{"expect_status":"6xx"}`, `1:2: expect_status: "6xx" is not a status; write codes from 100 to 599 and classes, as 200,204 or 2xx, or any`},
		{`{"expect_status":4.04e2}`, `1:2: expect_status: "4.04e2" is not a status; write codes from 100 to 599 and classes, as 200,204 or 2xx, or any`},
		{"{\"body\":\"\xff\"}", `1:10: is not UTF-8`},
		{``, ` has no request; write one a line, as in {"url": "/"}`},
	} {
		_, err := Read("f", strings.NewReader(test.line), base(t))
		if err == nil || err.Error() != "f:"+test.want {
			t.Errorf("%s\n  is %v\nwant f:%s", test.line, err, test.want)
		}
	}
}

// Where more is wrong than is shown, the error says how much, also where reading ends early.
func TestManyFaults(t *testing.T) {
	for _, last := range []error{errors.New("bad"), tooMany("too many")} {
		n := 0
		err := eachLine("f", strings.NewReader(strings.Repeat("x\n", 13)), func([]byte) error {
			if n++; n == 13 {
				return last
			}
			return errors.New("bad")
		})
		if all := strings.Split(fmt.Sprint(err), "\n"); len(all) != 11 || all[9] != "f:10: bad" || all[10] != "f: and 3 more" {
			t.Errorf("%q", all)
		}
	}
}

// Whatever a file holds, it is either refused with its lines or what can be
// sent, and to no other host.
func FuzzRequestsFile(f *testing.F) {
	for _, s := range []string{`{"url":"/a","weight":2}`, `{"headers":{"a":["b"]},"body":"c"}`,
		`{"headers":["a: b"],"name":"n","method":"PUT"}`, "{}\n\n{", `{"url":"http://x/"}`, "\xff"} {
		f.Add(s)
	}
	d := base(f)
	f.Fuzz(func(t *testing.T, s string) {
		all, err := Read("f", strings.NewReader(s), d)
		if err != nil {
			joined, is := err.(interface{ Unwrap() []error })
			if !is {
				return // an empty file
			}
			for _, e := range joined.Unwrap() {
				if x, is := e.(fault.Fault); !is || x.File != "f" || x.Problem == "" {
					t.Fatalf("fault %#v", e)
				}
			}
			return
		}
		if len(all) == 0 {
			t.Fatal("neither requests nor a fault")
		}
		for _, r := range all {
			if err := h1.Check(r.Request); err != nil {
				t.Fatal(err)
			}
			if r.Weight < 1 || r.Name == "" && !strings.Contains(s, "name") ||
				r.Authority != d.URL.Authority {
				t.Fatalf("request %+v", r)
			}
		}
	})
}

func FuzzURLs(f *testing.F) {
	f.Add("/a\n#b\r\nhttp://127.0.0.1:8080/c")
	f.Add("http://x/\n/ \n\xff")
	d := base(f)
	f.Fuzz(func(t *testing.T, s string) {
		urls, err := URLs("f", strings.NewReader(s), d.URL, nil)
		if err != nil {
			return
		}
		if len(urls) == 0 {
			t.Fatal("neither URLs nor a fault")
		}
		for _, u := range urls {
			if !d.URL.sameOrigin(u) {
				t.Fatalf("%+v leads away", u)
			}
		}
		if _, err := Pair(d, urls, [][]byte{nil}); err != nil {
			t.Fatal(err)
		}
	})
}

// A mark stands for what was not kept, and is never sent.
func TestMarksAreNotSent(t *testing.T) {
	base, err := Parse("http://h/")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`{"url": "/?token=(redacted-1a2b3c4d)"}`, `{"body": "(redacted)"}`,
		`{"headers": {"X-Auth": "(redacted-1a2b3c4d)"}}`, `{"headers": ["A: Bearer (redacted)"]}`} {
		_, err := Read("file", strings.NewReader(line), Defaults{URL: base})
		if err == nil || !strings.Contains(err.Error(), "file:1") ||
			!strings.Contains(err.Error(), "in the place of a secret") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Times are those of all requests or of none, and ascend.
func TestTimes(t *testing.T) {
	base, err := Parse("http://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Read("f", strings.NewReader(`{"at_s": 0}`+"\n"+`{"at_s": 0.25}`+"\n"+`{"at_s": 0.25}`), Defaults{URL: base})
	if err != nil || len(all) != 3 || all[0].At != 0 || all[2].At != loadplan.Seconds(250e6) {
		t.Errorf("%+v, %v", all, err)
	}
	for text, want := range map[string]string{
		`{"at_s": 1}` + "\n" + `{"url": "/"}`:  "f:2: at_s is given in some lines and not in others; give it in all or in none",
		`{"at_s": 1}` + "\n" + `{"at_s": 0.5}`: "f:2: at_s is 500ms, and that of the request above is later, 1s",
		`{"at_s": 1, "weight": 2}`:             "f:1: weight and at_s both say how often it is sent; with at_s it is once",
		`{"at_s": -1}`:                         "f:1:2: at_s -1 is not a number of seconds from 0 to 31622400",
		`{"at_s": "1"}`:                        `f:1:2: at_s "1" is not a number of seconds from 0 to 31622400`,
	} {
		if _, err := Read("f", strings.NewReader(text), Defaults{URL: base}); err == nil || err.Error() != want {
			t.Errorf("%s\n  is %v\nwant %s", text, err, want)
		}
	}
}
