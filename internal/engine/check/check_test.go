package check

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"dyno/internal/engine/scenario"
)

// response is one with a body, of which there were more bytes, and a header.
func response(body string, more int64) *scenario.Response {
	r := &scenario.Response{Status: 200, BodyBytes: int64(len(body)) + more}
	r.AddBody([]byte(body))
	r.AddField([]byte("x-id"), []byte("7"), false)
	r.AddField([]byte("x-id"), []byte("8"), false)
	r.AddField([]byte("x-empty"), nil, false)
	return r
}

func TestBody(t *testing.T) {
	const answer = `{"id": 1.0, "name": "a \"b\"", "ok": true, "n": "1", "list": [{"id":2},{"id":3}], "o": {}}`
	sum := sha256.Sum256([]byte(answer))
	for text, want := range map[string]bool{
		"contains:name": true, "contains:Name": false, `regex:"id": \d`: true, "regex:^$": false,
		"sha256:" + hex.EncodeToString(sum[:]): true,
		"sha256:" + strings.Repeat("0", 64):    false,
		"json:$.id":                            true,
		"json:$.none":                          false,
		"json:$.id==1":                         true,
		"json:$.id==1.0":                       true,
		"json:$.id == 10e-1":                   true,
		"json:$.id==2":                         false,
		`json:$.id=="1.0"`:                     false,
		"json:$.n==1":                          true,
		`json:$.n=="1"`:                        true,
		`json:$.name==a "b"`:                   true,
		`json:$.name=="a \"b\""`:               true,
		"json:$.ok==true":                      true,
		"json:$.ok==false":                     false,
		"json:$.list[1].id==3":                 true,
		"json:$.list[*].id==3":                 true,
		"json:$.list[*].id==4":                 false,
		"json:$.list[?@.id==3]":                true,
		"json:$.list[?@.id==3].id==3":          true,
		`json:$["list"][0]=={ "id" : 2 }`:      true,
		`json:$.list==[{"id":2},{"id":4}]`:     false,
		"json:$.o=={}":                         true,
		"json:$.name==":                        false,
	} {
		c, err := ParseBody(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if passes, sure := c.Passes(response(answer, 0), &Scratch{}); passes != want || !sure ||
			c.Name() != text || c.Field() != "" {
			t.Errorf("%s: %v, sure %v", text, passes, sure)
		}
	}
	c, _ := ParseBody("json:$.a")
	for _, body := range []string{"", "<html>", `{"a":1}}`, `{"a":`} {
		if passes, _ := c.Passes(response(body, 0), &Scratch{}); passes {
			t.Errorf("%q has $.a", body)
		}
	}
}

// Numbers are equal by their value, all digits of it.
func TestNumbers(t *testing.T) {
	for _, tc := range []struct {
		value, body string
		want        bool
	}{
		{"9007199254740993", "9007199254740992", false}, {"9007199254740993", "9007199254740993", true},
		{"9007199254740993.0", "9007199254740993", true}, {"900719925474099.3e1", "9007199254740993", true},
		{"1", "1.0", true}, {"1e0", "1", true}, {"1E+2", "100", true}, {"100", "1e2", true}, {"10", "1", false},
		{"0.05", "5e-2", true}, {"0.05", "0.5", false}, {"0.5", "0.50", true}, {"12.5", "125e-1", true},
		{"-1", "1", false}, {"-1", "-1.00", true}, {"0", "-0.0e7", true}, {"0", "0.1", false}, {"101", "1001", false},
		{"1e400", "1e400", true}, {"1e400", "10e399", true}, {"1e400", "1e401", false},
		{"1e99999999999999999999", "1e99999999999999999999", true},
		{"1e99999999999999999999", "10e99999999999999999998", false}, {"1e1", "true", false}, {"1", "-", false},
		{`{"id":9007199254740993}`, `{"id":9007199254740992}`, false},
		{`{"id":9007199254740993,"a":[1,null]}`, `{"a":[1.0,null],"id":9007199254740993}`, true},
		{`{"id":1}`, `{"id":"1"}`, false}, {`{"id":1}`, `{"id":1,"a":null}`, false},
		{`{"id":1,"a":null}`, `{"id":1,"b":null}`, false}, {`{"id":1}`, `[1]`, false}, {`[1]`, `{"id":1}`, false},
		{"[1]", "[1,2]", false}, {"[1,2]", "[1,2e0]", true}, {"[true]", "[true]", true}, {"[null]", "[1]", false},
		{"[{}]", "[{}]", true}, {"[{}]", "[null]", false}, {`["a"]`, `["a"]`, true}, {`["1"]`, "[1]", false},
	} {
		c, err := ParseBody("json:$.v==" + tc.value)
		if err != nil {
			t.Fatal(err)
		}
		if passes, _ := c.Passes(response(`{"v":`+tc.body+"}", 0), &Scratch{}); passes != tc.want {
			t.Errorf("%s == %s: %v", tc.body, tc.value, passes)
		}
	}
}

// Of a body that is longer than what was kept, a check says so if it cannot tell.
func TestTruncated(t *testing.T) {
	for text, want := range map[string][2]bool{"contains:ab": {true, true}, "contains:x": {false, false},
		"regex:b": {true, true}, "regex:x": {false, false}, "json:$": {false, false},
		"sha256:" + strings.Repeat("0", 64): {false, false}} {
		checkTruncated(t, "ab", text, want)
	}
}

func checkTruncated(t *testing.T, body, text string, want [2]bool) {
	t.Helper()
	c, err := ParseBody(text)
	if err != nil {
		t.Fatal(err)
	}
	if passes, sure := c.Passes(response(body, 1), &Scratch{}); passes != want[0] || sure != want[1] {
		t.Errorf("%q, %s: %v, sure %v", body, text, passes, sure)
	}
}

// Where a body was cut is not its end, and no word ends there: who knows what follows.
func TestRegexOfATruncatedBody(t *testing.T) {
	sure, unsure := [2]bool{true, true}, [2]bool{false, false}
	for _, tc := range []struct {
		body, regex string
		want        [2]bool
	}{
		{"aaaa", "^a+$", unsure}, {"aaaa", `^a+\z`, unsure}, {"aaaa", "a|b$", sure}, {"aaaa", "^a+", sure},
		{"aaaa", `a\b`, unsure}, {"aaaa", `a\B`, sure}, {"a aa", `a\b`, sure}, {"aaaa", "^$|a", sure},
		{"a\naa", "(?m)^a$", sure}, {"a\naa", "(?m)^aa$", unsure}, {"a\naa", "^a$", unsure},
		{"it is ok", `(?s)\bis\b.*`, sure}, {"it is ok", `(?s)\bok\b.*`, unsure}, {"ab", `\Qab`, sure},
		{"a.b$", `\Qb$`, sure}, {"a.b", `(?i)B\b|\QX`, unsure}, {"A.b", `(?i)a\b`, sure},
		{"a\xe2\x82", "a[^€]", unsure}, {"a\xe2\x82", "^a", sure},
		{"\xff\x80\x80\x80\x80", "(?s)^.....$", unsure}, {"", "^$", unsure}, {"", "^", sure},
	} {
		checkTruncated(t, tc.body, "regex:"+tc.regex, tc.want)
	}
}

func TestHeader(t *testing.T) {
	for text, want := range map[string]bool{"X-Id: 7": true, "x-id:8": true, "X-Id: 9": false, "X-Id": true,
		"X-None": false, "X-Empty:": true, "X-Id:": false} {
		c, err := ParseHeader(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if passes, sure := c.Passes(response("", 5), &Scratch{}); passes != want || !sure {
			t.Errorf("%s: %v, sure %v", text, passes, sure)
		}
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{"": "is not contains:TEXT", "ok": "is not contains:TEXT",
		"contains:": "is not contains:TEXT", "contain:x": `"contain" is not contains, regex`,
		"regex:(": "missing closing", "sha256:12": "is not 64", "sha256:" + strings.Repeat("z", 64): "is not 64",
		"json:id": "is no JSON path", "json:$[": "is no JSON path", "json:==1": "is no JSON path"} {
		if _, err := ParseBody(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"", ": 1", "a b: c", "a(b): c", "Größe", ":status: 200"} {
		if _, err := ParseHeader(text); err == nil {
			t.Errorf("%q is a header", text)
		}
	}
}

// kilobyte is a body of 1 KiB with a word at its end.
func kilobyte() string {
	return `{"text":"` + strings.Repeat("lorem ipsum ", 82) + `","id":"needle","n":-125.0e-1,"who":"José"}`
}

func TestPassesAllocatesNothing(t *testing.T) {
	r, s := response(kilobyte(), 0), &Scratch{}
	for _, text := range []string{"contains:needle", "regex:needle", "json:$.id==needle", "json:$.id",
		"json:$.n==-1.25e1", "json:$.who==José", "sha256:" + strings.Repeat("0", 64)} {
		c, err := ParseBody(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Passes(r, s)
		if n := testing.AllocsPerRun(100, func() { c.Passes(r, s) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkPasses(b *testing.B) {
	r, s := response(kilobyte(), 0), &Scratch{}
	for _, text := range []string{"contains:needle", "regex:needle", "json:$.id==needle"} {
		c, err := ParseBody(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Passes(r, s)
			}
		})
	}
}

func FuzzParseBody(f *testing.F) {
	for _, s := range []string{"contains:x", "regex:a|b", "json:$.a==1", `json:$[?@.a=="x"].b=={"c":[]}`, "sha256:00",
		"json:$['a]==']==\"\\u00e9\""} {
		f.Add(s, `{"a":1}`)
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		if c, err := ParseBody(text); err == nil {
			c.Passes(response(body, 0), &Scratch{})
			c.Passes(response(body, 1), &Scratch{})
		}
	})
}
