package session

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"dyno/internal/engine/check"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/scenario"
)

// What the workers of a run share can be used by all of them at once, and as often as they like:
// each value is what it was when one computed it once.
func TestShared(t *testing.T) {
	const xml = "<r><p><q>z</q></p><p><q>y</q></p><b/><n>42</n><n>3</n><a>x</a><a>x</a></r>"
	const json = `{"s": "a-1,b-2", "d": "2024-01-02", "all": [{"n": 1, "t": "ab"}, {"n": 2, "t": "cb"}]}`
	latin := []string{"Content-Type: text/plain; charset=ISO-8859-1"}
	for name, shared := range map[string]func(testing.TB) func() string{
		"xpath number":     queried(`xpath "//n * 2"`, reply{body: xml}),
		"xpath boolean":    queried(`xpath "//a = 'x' and //q = 'y'"`, reply{body: xml}),
		"xpath nodes":      queried(`xpath "//p/q | //n"`, reply{body: xml}),
		"xpath position":   queried(`xpath "(//n)[2] * 1"`, reply{body: xml}),
		"xpath text":       queried(`xpath "string((//q)[2])"`, reply{body: xml}),
		"xpath HTML":       queried(`xpath "count(//p[last()]) + 1"`, reply{header: []string{"Content-Type: text/html"}, body: xml}),
		"xpath namespaces": queried(`xpath "//x:c * 2"`, reply{body: `<a xmlns:x="urn:x"><x:c>4</x:c></a>`}),
		"xpath filter":     queried(`jsonpath "$.s" xpath "string(//body)"`, reply{body: json}),
		"jsonpath":         queried(`jsonpath "$.all[1].n"`, reply{body: json}),
		"jsonpath filter":  queried(`jsonpath "$.all[?@.n > 1 && match(@.t, 'c.')].n"`, reply{body: json}),
		"jsonpath below":   queried(`jsonpath "$..n" count`, reply{body: json}),
		"regex":            queried(`regex "([a-z])-2"`, reply{body: json}),
		"replaceRegex":     queried(`jsonpath "$.s" replaceRegex "[0-9]" "x"`, reply{body: json}),
		"toDate":           queried(`jsonpath "$.d" toDate "%Y-%m-%d" format "%d.%m.%Y"`, reply{body: json}),
		"escapes":          queried(`body htmlEscape urlEncode urlDecode htmlUnescape`, reply{body: "a<b>&%41"}),
		"charset":          queried(`body`, reply{header: latin, body: "\xe9t\xe9"}),
		"charsetDecode":    queried(`bytes charsetDecode "gb2312"`, reply{body: "\xc4\xe3\xba\xc3"}),
		"gzip":             decoded("gzip"),
		"deflate":          decoded("deflate"),
		"br":               decoded("br"),
		"zstd":             decoded("zstd"),
		"check regex":      checked("regex:b-[0-9]$|all"),
		"check json":       checked(`json:$.all[?@.t == "cb"].n==2`),
		"check sha256":     checked("sha256:" + strings.Repeat("0", 64)),
		"idna": func(testing.TB) func() string {
			return func() string { u, err := requests.Parse("http://bücher.example/ä"); return fmt.Sprint(u, err) }
		},
		"lua": sharedChunk,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raceShared(t, shared)
		})
	}
}

// raceShared computes a value alone, and then many times in several goroutines.
func raceShared(t *testing.T, shared func(testing.TB) func() string) {
	want := shared(t)()
	compute := shared(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				if got := compute(); got != want {
					t.Errorf("%s, and alone %s", got, want)
					return
				}
			}
		})
	}
	all.Wait()
}

// queried is the value of a query. Each goroutine that asks for it has a worker.
func queried(query string, answer reply) func(testing.TB) func() string {
	return func(t testing.TB) func() string {
		m := mustCompile(t, "GET {{base}}/\nHTTP 200\n[Asserts]\n"+query+" exists\n", nil)
		var workers sync.Pool
		return func() string {
			w, is := workers.Get().(*worker)
			if !is {
				s, err := m.Make(scenario.Share{Users: 1})
				if err != nil {
					return err.Error()
				}
				w = s.(*worker)
			}
			defer workers.Put(w)
			x := &user{program: &m.programs[0]}
			w.scratch.reset()
			w.scratch.response = answer.response()
			v, err := w.evaluate(x, &x.program.entries[0].asserts[0])
			return fmt.Sprint(v.String(), err)
		}
	}
}

// decoded is the length of a body with an encoding.
func decoded(encoding string) func(testing.TB) func() string {
	var b bytes.Buffer
	text := []byte(strings.Repeat("dyno and some text, ", 1000))
	switch encoding {
	case "gzip":
		z := gzip.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
	case "deflate":
		z := zlib.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
	case "br":
		z := brotli.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
	case "zstd":
		z, _ := zstd.NewWriter(nil)
		b.Write(z.EncodeAll(text, nil))
	}
	return queried("sha256", reply{header: []string{"Content-Encoding: " + encoding}, body: b.String()})
}

// checked is the outcome of a check of --expect-body.
func checked(text string) func(testing.TB) func() string {
	return func(t testing.TB) func() string {
		c, err := check.ParseBody(text)
		if err != nil {
			t.Fatal(err)
		}
		return func() string {
			r := reply{body: `{"s": "b-2", "all": [{"n": 1, "t": "ab"}, {"n": 2, "t": "cb"}]}`}.response()
			passes, sure := c.Passes(r, new(check.Scratch))
			return fmt.Sprint(passes, sure)
		}
	}
}

// sharedChunk is what compiled Lua yields, which each thread of a script runs.
func sharedChunk(t testing.TB) func() string {
	parsed, err := parse.Parse(strings.NewReader(`
local t = {}
for i = 1, 20 do t[#t+1] = string.format("%d:%s", i, ("x"):rep(i):gsub("x", "y")) end
result = table.concat(t, ",")`), "shared")
	if err != nil {
		t.Fatal(err)
	}
	code, err := lua.Compile(parsed, "shared")
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		l := lua.NewState()
		defer l.Close()
		l.Push(l.NewFunctionFromProto(code))
		if err := l.PCall(0, 0, nil); err != nil {
			return err.Error()
		}
		return l.GetGlobal("result").String()
	}
}
