package template

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/hole"
)

func names() *Names {
	return &Names{
		Columns:   []string{"email", "First Name", "token"},
		Variables: map[string]string{"host": "example.org", "braces": "{{uuid}}"},
		Captures:  []string{"session"},
		Env: func(name string) (string, bool) {
			return "secret", name == "TOKEN"
		},
	}
}

// shown is a text with its holes as <kind index low high>.
func shown(t Text) string {
	var b strings.Builder
	from := 0
	for _, h := range t.Holes {
		b.WriteString(t.Literal[from:h.At])
		b.WriteString("<" + strconv.Itoa(int(h.Kind)) + " " + strconv.Itoa(h.Index) + " " +
			strconv.FormatInt(h.Low, 10) + " " + strconv.FormatInt(h.High, 10) + ">")
		from = h.At
	}
	return b.String() + t.Literal[from:]
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"/plain?a={b}":                      "/plain?a={b}",
		`{"a":{"b":1}}`:                     `{"a":{"b":1}}`,
		`{"id":{{int 1 5}}}`:                `{"id":<1 0 1 5>}`,
		"{{uuid}}{{ uuid }}":                "<0 0 0 0><0 0 0 0>",
		"{{int -9223372036854775808 0}}":    "<1 0 -9223372036854775808 0>",
		"a{{hex  16}}b{{seq}}c{{now}}":      "a<2 0 16 0>b<3 0 0 0>c<4 0 0 0>",
		"{{token}}/{{email}}/{{session}}":   "<5 2 0 0>/<5 0 0 0>/<6 0 0 0>",
		"{{First Name}}":                    "<5 1 0 0>",
		"http://{{host}}/{{braces}}":        "http://example.org/{{uuid}}",
		`{{env "TOKEN"}}{{env "X" "a}}b"}}`: "secreta}}b",
		`\{{uuid}}`:                         "{{uuid}}",
		`\\{{host}}`:                        `\\example.org`,
		`\\\{{host}}`:                       `\\{{host}}`,
		`a\b`:                               `a\b`,
		`{{"\\"}}{{seq}}{{ "{{x}}" }}`:      `\<3 0 0 0>{{x}}`,
		"{ {uuid} }":                        "{ {uuid} }",
	} {
		got, err := names().Parse(text, Position{"f", 1, 1})
		if err != nil || shown(got) != want {
			t.Errorf("%q: %q, %v; want %q", text, shown(got), err, want)
		}
	}
}

// Each fault says where it is, and what to write.
func TestFaults(t *testing.T) {
	for text, want := range map[string][]string{
		"a{{emial}}":    {"f:3:8: {{emial}} is unknown: did you mean email?"},
		"{{}}":          {"f:3:7: {{}} names nothing"},
		"x\n\n  {{uuid": {"f:5:3: {{ is not closed by }}"},
		"{{uuid\n}}":    {"f:3:7: {{ is not closed"},
		"{{a {{uuid}}":  {"f:3:7: {{ is not closed"},
		`{{env "A}}` + strings.Repeat("x", maxLooked):      {`f:3:7: a quote in {{env "A}} is`},
		`{{env "A` + strings.Repeat("x", maxLooked) + "}}": {"f:3:7: {{ is not closed by"},
		"{{uuid 4}}":                    {"f:3:7: {{uuid 4}} is not how uuid is called: write {{uuid}}"},
		"{{int}}":                       {"write {{int LOW HIGH}}"},
		"{{int 5}}":                     {"write {{int LOW HIGH}}"},
		"{{int 5 1}}":                   {"LOW is not above HIGH"},
		"{{int 1 1e3}}":                 {"write {{int LOW HIGH}}"},
		"{{int 1 9223372036854775808}}": {"64 bits"},
		"{{hex}}":                       {"write {{hex DIGITS}}"},
		"{{hex 0}}":                     {"1 to 1024"},
		"{{hex 1025}}":                  {"1 to 1024"},
		"{{seq 1}}":                     {"write {{seq}}"},
		"{{now utc}}":                   {"write {{now}}"},
		"{{UUID}}":                      {"did you mean uuid?"},
		"{{newUuid}}":                   {"did you mean uuid?"},
		"{{$timestamp}}":                {"did you mean now?"},
		"{{qqqq}}":                      {"there are the functions uuid, int, hex, seq, now, json, env and the names email"},
		"{{env}}":                       {`write {{env "NAME"}}`},
		"{{env TOKEN}}":                 {`write {{env "NAME"}}`},
		`{{env "NONE"}}`:                {"the environment has no NONE; set it"},
		`{{env "A" "b" 1}}`:             {`write {{env "NAME"}}`},
		`{{env ""}}`:                    {`write {{env "NAME"}}`},
		"{{a1}} {{b2}}\n{{uuid":         {"f:3:7: {{a1}}", "f:3:14: {{b2}}", "f:4:1: {{ is not closed"},
	} {
		_, err := names().Parse(text, Position{"f", 3, 7})
		if err == nil {
			t.Errorf("%q: no fault", text)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(want) {
			t.Errorf("%q: %d faults, want %d:\n%v", text, len(lines), len(want), err)
			continue
		}
		for i := range want {
			if !strings.Contains(lines[i], want[i]) || !strings.HasPrefix(lines[i], "f:") {
				t.Errorf("%q: %s\nwant %s", text, lines[i], want[i])
			}
		}
	}
	if _, err := (&Names{}).Parse(strings.Repeat("{{seq}}", maxHoles+1), Position{"f", 1, 1}); err == nil {
		t.Errorf("%d holes are no fault", maxHoles+1)
	}
}

// No name means two things.
func TestNames(t *testing.T) {
	if err := names().Check(); err != nil {
		t.Error(err)
	}
	n := names()
	n.Variables["uuid"], n.Variables["email"] = "", ""
	n.Captures = []string{"session", "session", "host", "now"}
	err := n.Check()
	for _, want := range []string{"\"uuid\" is the name of a function", "the data has a column \"email\", too",
		"capture session", "capture host", "capture now"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: no %q", err, want)
		}
	}
}

func facts(seed uint64) *Facts {
	due := time.Date(2026, 11, 23, 4, 5, 6, 7_008_999, time.UTC)
	return &Facts{Rand: rand.New(rand.NewPCG(seed, 1)), Seq: 42, Due: due.UnixNano()}
}

func TestAppend(t *testing.T) {
	for _, tc := range []struct {
		source Source
		form   string
	}{
		{Source{Kind: UUID}, `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`},
		{Source{Kind: Int, Low: -3, High: 3}, `-?[0-3]`},
		{Source{Kind: Int, Low: -1 << 63, High: 1<<63 - 1}, `-?[0-9]{1,19}`},
		{Source{Kind: Hex, Low: 5}, `[0-9a-f]{5}`},
		{Source{Kind: Hex, Low: 40}, `[0-9a-f]{40}`},
		{Source{Kind: Seq}, `42`},
		{Source{Kind: Now}, `2026-11-23T04:05:06\.007008Z`},
		{Source{Kind: Column}, ``},
	} {
		form, f, again := regexp.MustCompile("^"+tc.form+"$"), facts(7), facts(7)
		for range 1000 {
			got := string(tc.source.Append(nil, f))
			if !form.MatchString(got) || len(got) > tc.source.Longest() {
				t.Fatalf("%+v: %q", tc.source, got)
			}
			if same := string(tc.source.Append(nil, again)); same != got {
				t.Fatalf("%+v: %q and %q with the same seed", tc.source, got, same)
			}
		}
	}
}

// An instant is written as package time writes it.
func TestNow(t *testing.T) {
	f := facts(1)
	for i := range 10_000 {
		ns := f.Rand.Int64N(1 << 62)
		if i%2 == 1 {
			ns = f.Due/1e9*1e9 + ns%1e9 // in the same second
		}
		f.Due = ns
		want := time.Unix(0, ns).UTC().Truncate(time.Microsecond).Format(nowLayout)
		if got := string(f.appendNow(nil)); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

// Random values are uniform: chi-squared with 99 and 15 degrees of freedom, at 1 in 10⁶. The seeds
// are fixed, so the verdict is, too.
func TestUniform(t *testing.T) {
	for seed := range uint64(10) {
		f := facts(seed)
		ints, nibbles := make([]int, 100), make([]int, 16)
		var b []byte
		for range 100_000 {
			b = Source{Kind: Int, Low: 1, High: 100}.Append(b[:0], f)
			n, _ := strconv.Atoi(string(b))
			ints[n-1]++
			b = Source{Kind: Hex, Low: 1}.Append(b[:0], f)
			nibbles[strings.IndexByte(digits, b[0])]++
		}
		if x := chiSquared(ints); x > 179 {
			t.Errorf("seed %d: int has χ² = %.1f", seed, x)
		}
		if x := chiSquared(nibbles); x > 55 {
			t.Errorf("seed %d: hex has χ² = %.1f", seed, x)
		}
	}
}

func chiSquared(counts []int) (x float64) {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	expected := float64(sum) / float64(len(counts))
	for _, n := range counts {
		x += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	return x
}

func TestAppendAllocatesNothing(t *testing.T) {
	f, b := facts(1), make([]byte, 0, 256)
	for _, k := range []Kind{UUID, Int, Hex, Seq, Now} {
		s := Source{Kind: k, Low: 16, High: 1 << 40}
		if n := testing.AllocsPerRun(100, func() { b = s.Append(b[:0], f) }); n != 0 {
			t.Errorf("kind %d: %v allocations", k, n)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, s := range map[string]Source{"uuid": {Kind: UUID}, "int": {Kind: Int, Low: 1, High: 100},
		"hex16": {Kind: Hex, Low: 16}, "seq": {Kind: Seq}, "now": {Kind: Now}} {
		b.Run(name, func(b *testing.B) {
			f, buf := facts(1), make([]byte, 0, 64)
			b.ReportAllocs()
			for b.Loop() {
				buf = s.Append(buf[:0], f)
			}
		})
	}
}

// A text without faults is its literal text and holes in order; what has no {{ is left as it is.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "{{uuid}}", `\{{`, `\\{{seq}}`, "{{int 1 2}}}", "{{env \"TOKEN\"}}",
		"{{First Name}}{{hex 3}}", "a\nb{{now", "{{{{uuid}}}}", "{{env \"a\\\"}}\"}}", "{{host}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := names().Parse(text, Position{"f", 1, 1})
		if !HasHoles(text) && (err != nil || got.Literal != text || len(got.Holes) > 0) {
			t.Fatalf("%q became %+v, %v", text, got, err)
		}
		last := 0
		for _, h := range got.Holes {
			if h.At < last || h.At > len(got.Literal) {
				t.Fatalf("%q: hole at %d after %d of %d", text, h.At, last, len(got.Literal))
			}
			last = h.At
			h.Append(nil, facts(1))
		}
		escaped := hole.VerbatimBeforeHole(text) + "{{seq}}" + hole.Verbatim(text)
		again, err := names().Parse(escaped, Position{"f", 1, 1})
		if err != nil || again.Literal != text+text || len(again.Holes) != 1 || again.Holes[0].At != len(text) {
			t.Fatalf("%q was escaped and is %+v, %v", text, again, err)
		}
	})
}

// A column or a variable as JSON is a string of JSON whatever it has; what is no UTF-8 is U+FFFD.
func TestJSONOfNames(t *testing.T) {
	n := Names{Columns: []string{"a", "prompt"}, Variables: map[string]string{"v": "say \"hi\"\\\n\x00é"}, Captures: []string{"c"}}
	got, err := n.Parse(`{"p": {{json prompt}}, "v": {{json v}}}`, Position{Line: 1, Column: 1})
	if err != nil || len(got.Holes) != 1 || got.Holes[0].Source != (Source{Kind: Column, Index: 1, JSON: true}) ||
		got.Literal != `{"p": , "v": "say \"hi\"\\\n\u0000é"}` {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{"{{json c}}": "json is for columns and variables", "{{json x}}": "{{x}} is unknown",
		"{{json}}": "{{json}} is unknown"} {
		if _, err := n.Parse(text, Position{Line: 1, Column: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if IsFunction("json") != true {
		t.Error("a column may be called json")
	}
}

func FuzzAppendJSON(f *testing.F) {
	for _, s := range []string{"", "a\"\\\t\x7f\u2028é😀", "\xff\xc3"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got string
		if err := json.Unmarshal(AppendJSON(nil, text), &got); err != nil || got != strings.ToValidUTF8(string(text), "") && got != string([]rune(string(text))) {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	})
}
