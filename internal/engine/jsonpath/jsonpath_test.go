package jsonpath

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp/syntax"
	"strings"
	"sync"
	"testing"

	"github.com/theory/jsonpath"

	"dyno/internal/engine/scenario"
)

// shop is the document of the selections below.
const shop = `{"items": [{"id": 1, "name": "pen", "price": 1.5, "tags": ["blue", "x"]},
	{"id": 2, "name": "ink", "price": 4, "sold": true},
	{"id": 3, "name": "pad", "price": 2.5, "sold": null, "tags": []}],
	"owner": {"name": "Ann", "a.b": {"c'd": "quoted"}},
	"☺": "smile", "\ud83d\ude00": "grin", "": "empty", "n": [0, 1, 2, 3, 4, 5, 6]}`

// selections are paths with everything that RFC 9535 has, and what they select in shop. The library
// is tested by its authors with the RFC's compliance suite. These cases show that what it is given
// and what is made of its results keep the meaning.
var selections = []struct{ path, want string }{
	{"$.owner.name", `"Ann"`}, {`$['owner']["name"]`, `"Ann"`}, {"$ .owner\n['name']", `"Ann"`},
	{"$.☺", `"smile"`}, {`$["\u263A"]`, `"smile"`}, {`$['\uD83D\uDE00']`, `"grin"`}, {"$['']", `"empty"`},
	{`$.owner['a.b']['c\'d']`, `"quoted"`}, {`$.owner["a.b"]["c'd"]`, `"quoted"`}, {"$.owner.none", ""},
	{"$.owner['a.b'].*", `"quoted"`}, {"$.owner['a.b'][*]", `"quoted"`}, {"$.owner[0]", ""}, {"$.n.a", ""},
	{"$.items[0].id", "1"}, {"$.items[-1].id", "3"}, {"$.items[3]", ""}, {"$.items[-4]", ""},
	{"$.n[ 1 ]", "1"}, {"$.n[1,-1,1]", "1 6 1"}, {"$.n[0,'x',5:]", "0 5 6"}, {"$.n[*]", "0 1 2 3 4 5 6"},
	{"$.n[2:4]", "2 3"}, {"$.n[:2]", "0 1"}, {"$.n[5:]", "5 6"}, {"$.n[::3]", "0 3 6"}, {"$.n[-2:]", "5 6"},
	{"$.n[1:5:2]", "1 3"}, {"$.n[5:1:-2]", "5 3"}, {"$.n[::-3]", "6 3 0"}, {"$.n[::0]", ""},
	{"$.n[4:2]", ""}, {"$.n[-100:1]", "0"}, {"$.n[100:-100:-3]", "6 3 0"}, {"$.owner[0:1]", ""},
	{"$.n[ 1 : 3 : 1 ]", "1 2"}, {"$.n.*", "0 1 2 3 4 5 6"}, {"$.n..*", "0 1 2 3 4 5 6"}, {"$..n[6]", "6"},
	{"$..id", "1 2 3"}, {"$.items..name", `"pen" "ink" "pad"`}, {"$..tags[0]", `"blue"`},
	{"$..['id']", "1 2 3"}, {"$.items[0,2].tags[*]", `"blue" "x"`}, {"$.items[?@.sold].id", "2 3"},
	{"$.items[?!@.sold].id", "1"}, {"$.items[?@.price<2.5].id", "1"}, {"$.items[?@.price<=2.5].id", "1 3"},
	{"$.items[?@.price>2.5].id", "2"}, {"$.items[?@.price>=2.5].id", "2 3"},
	{"$.items[?@.price==4.0].id", "2"}, {"$.items[?4!=@.price].id", "1 3"},
	{"$.items[?@.price==15e-1].id", "1"}, {"$.items[?@.sold==true].id", "2"},
	{"$.items[?@.sold==null].id", "3"}, {"$.items[?@.sold!=null].id", "1 2"},
	{"$.items[?@.name=='ink'||@.id==1].id", "1 2"}, {"$.items[?@.id>1 && @.id<3].id", "2"},
	{"$.items[?(@.id==1 || @.id==2) && !(@.sold)].id", "1"}, {"$.items[?@.name<'pb'].id", "2 3"},
	{"$.items[?@.name>1].id", ""}, {`$.items[?@['name']=="pad"].id`, "3"}, {"$.n[?@>4,0]", "5 6 0"},
	{"$.items[?@.tags==$.items[2].tags].id", "3"}, {"$.items[?@.none==@.nothing].id", "1 2 3"},
	{"$.items[?@.tags[?@=='x']].id", "1"}, {"$[?@.name=='Ann'].name", `"Ann"`},
	{"$.items[?$.n[3]==@.id].id", "3"}, {"$.items[?length(@.tags)==2].id", "1"},
	{"$.items[?length(@.name)==3].id", "1 2 3"}, {"$.items[?count(@.*)>4].id", "3"},
	{"$.items[?match(@.name,'p.*')].id", "1 3"}, {"$.items[?match(@.name,'p')].id", ""},
	{"$.items[?search(@.name,'n')].id", "1 2"}, {"$.items[?value(@.tags[0])=='blue'].id", "1"},
	{"$.items[?length(value(@..name))==3].id", "1 2 3"},
}

// invalid are texts that are no path by RFC 9535.
var invalid = []string{"", " $", "$ ", "a", "@", "$a", "$.", "$..", "$. a", "$.1", "$.a-b", "$.a.", "$...a",
	"$[", "$]", "$[]", "$[,1]", "$[1,]", "$['a]", "$['a\"]", "$[a]", "$[01]", "$[-0]", "$[1.0]", "$[1e0]",
	"$[9007199254740992]", "$[1:2:3:4]", "$[:01]", `$['\x']`, `$['\u12']`, `$["\ud800"]`, `$["\'"]`,
	"$['a\nb']", "$[?]", "$[?@.a=1]", "$[?(@.a]", "$[?@.a)]", "$[?@.a==]", "$[?@.a &&]", "$[?@.*==1]",
	"$[?@..a==1]", "$[?@[0:1]==1]", "$[?1]", "$[?'a']", "$[?true]", "$[?@.a==[1]]", "$[?@.a==01]",
	"$[?@.a==True]", "$[?length(@.a)]", "$[?length(@.*)==1]", "$[?count(1)==1]", "$[?match(@.a)]",
	"$[?match(@.a,'x')==true]", "$[?none(@.a)]", "$[?length(@.a,@.b)==1]"}

func TestSelections(t *testing.T) {
	walked := 0
	for _, tc := range selections {
		p, err := Parse(tc.path)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.general == nil {
			walked++
		}
		values, err := p.Select(nil, []byte(shop))
		if got := joined(values); err != nil || got != tc.want {
			t.Errorf("%s: %s, %v; want %s", tc.path, got, err, tc.want)
		}
	}
	if walked < 12 {
		t.Errorf("only %d paths were looked up in the text", walked)
	}
	for _, path := range invalid {
		if p, err := Parse(path); err == nil {
			t.Errorf("%q is a path: %v", path, p)
		}
	}
}

// joined are values with spaces between them.
func joined(values [][]byte) string { return string(bytes.Join(values, []byte(" "))) }

// compare compares what a path that is looked up in the text selects with what the library selects
// in decoded JSON. It reports whether that is a value.
func compare(t *testing.T, path *Path, body string) (found bool) {
	t.Helper()
	var all any
	want := []any{}
	valid := json.Valid([]byte(body))
	if valid && json.Unmarshal([]byte(body), &all) != nil {
		return false // a number that is too large for a float64
	}
	values, err := path.Select(nil, []byte(body))
	if errors.Is(err, scenario.ErrLimits) {
		return
	}
	if (err == nil) != valid {
		t.Fatalf("%q: JSON %v", body, err)
	}
	if err != nil || strings.ToValidUTF8(body, "") != body {
		return false // names with U+FFFD for what is no UTF-8
	}
	for _, v := range jsonpath.MustParse(path.String()).Select(all) {
		want = append(want, v)
	}
	if got := decoded(t, values); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q in %q: %v, want %v", path, body, got, want)
	}
	return len(want) > 0
}

func decoded(t *testing.T, texts [][]byte) []any {
	all := []any{}
	for _, text := range texts {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		all = append(all, v)
	}
	return all
}

// names are those of the members of random documents, as JSON has them and as paths have them.
var names = []struct{ text, selector string }{{`"a"`, ".a"}, {`"b"`, "['b']"}, {`"\u0061"`, "['a']"},
	{`"é"`, ".é"}, {`"\u00e9"`, `["\u00E9"]`}, {`""`, "['']"}, {`"\"\\"`, `["\"\\"]`}, {`"0"`, "['0']"},
	{`"\ud83d\ude00"`, ".😀"}}

// randomValue is JSON whose containers are nested up to a depth.
func randomValue(r *rand.Rand, depth int) string {
	kind := r.IntN(10)
	if depth == 0 {
		kind = r.IntN(4)
	}
	switch kind {
	case 0, 1, 2, 3:
		return []string{"null", "-1.50e1", `"]}\"\\"`, "true"}[kind]
	}
	space := []string{"", " ", "\n\t"}[r.IntN(3)]
	var all []string
	for range r.IntN(5) {
		v := randomValue(r, depth-1) + space
		if kind < 8 {
			v = space + names[r.IntN(len(names))].text + space + ":" + space + v
		}
		all = append(all, v)
	}
	if kind < 8 {
		return "{" + strings.Join(all, ",") + "}"
	}
	return "[" + space + strings.Join(all, ",") + "]"
}

// A path of names and indices selects in the text what the library selects in decoded JSON, where
// the last of several members of one name counts.
func TestSelectAsTheLibrary(t *testing.T) {
	r, found := rand.New(rand.NewPCG(1, 2)), 0
	for range 20_000 {
		text := "$"
		for range r.IntN(4) {
			if r.IntN(3) > 0 {
				text += names[r.IntN(len(names))].selector
			} else {
				text += fmt.Sprintf("[%d]", r.IntN(4))
			}
		}
		p, err := Parse(text)
		if err != nil || p.general != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if compare(t, p, randomValue(r, 4)) {
			found++
		}
	}
	if found < 2000 {
		t.Errorf("only %d paths selected something", found)
	}
}

func TestSelect(t *testing.T) {
	for _, tc := range []struct{ path, body, want string }{
		{"$.a.b", `{"a": {"b": 1.50}}`, "1.50"},
		{"$['a'][1]", ` {"x":[{}], "a" : [0, "s\n" ] } `, `"s\n"`},
		{"$", ` [1 , 2] `, `[1 , 2]`},
		{"$.é", `{"\u00e9": 1}`, "1"},
		{"$.a.b", `{"a":{"b":1},"a":{"c":2}}`, ""},
		{"$.a", `{"a":1,"a":2}`, "2"},
		{"$.a", `{"a":1} x`, "not JSON"},
		{"$.a", `{"a":1`, "not JSON"},
		{"$.a", ``, "not JSON"},
		{"$.*", `{"a":1e999}`, "1e999"},
		{"$[-1]", `[1,"<&>"]`, `"<&>"`},
		{"$..id", `{"id":1.0} {}`, "not JSON"},
		{"$[?@.n>1].s", `[{"n":1,"s":"a"},{"n":2.5,"s":"b"}]`, `"b"`},
		{"$.a[0]", `{"a":{"0":1}}`, ""},
	} {
		p, err := Parse(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		values, err := p.Select(nil, []byte(tc.body))
		got := "not JSON"
		if err == nil {
			got = ""
			for _, v := range values {
				got += string(v)
			}
		}
		if got != tc.want {
			t.Errorf("%s in %s: %s, want %s", tc.path, tc.body, got, tc.want)
		}
	}
}

// kilobyte is an answer of 1 KiB, whose last member is looked for.
func kilobyte() []byte {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for b.Len() < 970 {
		b.WriteString(`{"id":12345,"name":"a name","tags":["one","two"],"price":12.50},`)
	}
	b.WriteString(`null],"session":{"token":"abc"}}`)
	return []byte(b.String())
}

func TestSelectAllocatesNothing(t *testing.T) {
	p, _ := Parse("$.session.token")
	body, to := kilobyte(), make([][]byte, 0, 1)
	n := testing.AllocsPerRun(100, func() { to, _ = p.Select(to[:0], body) })
	if n != 0 || len(to) != 1 || string(to[0]) != `"abc"` {
		t.Errorf("%v allocations, %q", n, to)
	}
}

func BenchmarkSelect(b *testing.B) {
	body := kilobyte()
	for _, path := range []string{"$.session.token", "$..token"} {
		b.Run(path, func(b *testing.B) {
			p, err := Parse(path)
			if err != nil {
				b.Fatal(err)
			}
			to := make([][]byte, 0, 8)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				to, _ = p.Select(to[:0], body)
			}
		})
	}
}

// A path that is looked up in the text selects what the library selects in decoded JSON.
func FuzzSelect(f *testing.F) {
	for _, tc := range selections {
		f.Add(tc.path, shop)
	}
	f.Add("$.a", `{"\u0061":1,"a":[1e5]}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		if p, err := Parse(path); err == nil && p.general == nil {
			compare(t, p, body)
		}
	})
}

// Patterns match a text as RFC 9485 and RFC 9535 have it. What is missing or no text does not match.
func TestPatterns(t *testing.T) {
	const body = `[{"a":"x"}, {"b":"x"}, {"a":1,"p":"["}, {"a":"xy","p":".y"}, {"a":"a\nb","p":"a.b"}, {"a":"x(","match":1}]`
	for path, want := range map[string]int{
		"$[?match(@.a,'x')]": 1, "$[?search(@.a,'x')]": 3, "$[?match(@.none,@.nothing)]": 0, "$[?!match(@.a,'x')]": 5,
		"$[?match(@.a,'y|xy')]": 1, "$[?match(@.a,'x|xy')]": 2, "$[?match(@.a,@.p)]": 1, "$[?search(@.a,@.p)]": 1,
		"$[?search(@.a,1)]": 0, "$[?match(@.a,'[')]": 0, "$[?match(@.a,'.*')]": 3, "$[?@.match]": 1,
		"$[?@.a=='match(']": 0, `$[?match(@.a,'x\\(')]`: 1, "$[?match( @.a , 'x' )&&search(@.a,'x')]": 1,
		"$..[?match(@,'x')]": 2, `$[?@["a"]=="\"search("]`: 0,
	} {
		p, err := Parse(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var threads sync.WaitGroup
		for range 3 {
			threads.Go(func() {
				for range 2 {
					if all, err := p.Select(nil, []byte(body)); err != nil || len(all) != want {
						t.Errorf("%s: %q, %v; want %d", path, all, err, want)
					}
				}
			})
		}
		threads.Wait()
	}
}

// manyPatterns are that many unlike regular expressions.
func manyPatterns(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("[ab]{9}", i))
	}
	return all
}

// What a server sends is searched only if it is within the limits, which are looked at before a tree
// is built. A path of names and indices builds none.
// A server's pattern that is too long costs nothing: it is not parsed, and not kept.
func TestLongPattern(t *testing.T) {
	m := &matcher{compiled: map[string]*pattern{}}
	long := strings.Repeat("(a|b.)", 10_000)
	allocated := testing.AllocsPerRun(1, func() {
		m.left = math.MaxInt
		if p := m.pattern(long, `\A(?:`, `)\z`); p.Regexp != nil {
			t.Error("it is compiled")
		}
	})
	if allocated > 1 || len(m.compiled) > 0 {
		t.Errorf("%v allocations, %d kept", allocated, len(m.compiled))
	}
}

// A pattern with its dots replaced is the same expression, but for the dots.
func TestWithDots(t *testing.T) {
	for _, p := range []string{"", ".", "a.b*", `\.`, `\\.`, `[.]`, `[^.].`, `[].].`, `[^].].`, `[a\].].`, `.é.`,
		`[[:alpha:].].`, `[[:.]`, `\Q.\E.`, `\Q.`, `\Q\E.`, `(.|..){2,3}?.`, `\pL.`, `\p{Lu}.`, `\x{2e}.`, `(?i:.a)`} {
		want, err := syntax.Parse(p, syntax.Perl|syntax.DotNL)
		if err != nil {
			t.Fatal(p, err)
		}
		replaceDots(want)
		got, err := syntax.Parse(withDots(p), syntax.Perl)
		if err != nil || got.String() != want.String() {
			t.Errorf("%s: %s (%v) %v, want %v", p, withDots(p), err, got, want)
		}
	}
	for _, p := range []string{`\`, `[`, `[^`, `[\`, `[[:`, `.\`, `[]`, `[^]`} { // none is a pattern
		if _, err := syntax.Parse(withDots(p), syntax.Perl); err == nil {
			t.Errorf("%s: %s", p, withDots(p))
		}
	}
}

func replaceDots(e *syntax.Regexp) {
	if e.Op == syntax.OpAnyChar {
		*e = syntax.Regexp{Op: syntax.OpCharClass, Rune: []rune{0, '\n' - 1, '\n' + 1, '\r' - 1,
			'\r' + 1, 0x10FFFF}}
	}
	for _, sub := range e.Sub {
		replaceDots(sub)
	}
}

// A class of Unicode is a pattern: its ranges are not written out, which is longer than is allowed.
func TestUnicodeClass(t *testing.T) {
	m := &matcher{compiled: map[string]*pattern{}, left: scenario.MaxSteps}
	if p := m.pattern(`\pL`, "", ""); p.Regexp == nil || !p.MatchString("é") {
		t.Error("a class of Unicode is no pattern")
	}
}

func TestLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + "1" + strings.Repeat("]", n) }
	list := func(n int) string { return "[0" + strings.Repeat(",0", n-1) + "]" }
	for _, tc := range []struct {
		path, body string
		fits       bool
	}{
		{"$..a", nested(scenario.MaxLevels), true},
		{"$..a", nested(scenario.MaxLevels + 1), false},
		{"$[0][0]", nested(scenario.MaxLevels + 1), true},
		{"$[?@ > 1]", list(scenario.MaxNodes - 2), true},
		{"$[?@ > 1]", list(scenario.MaxNodes + 1), false},
		{"$[1]", list(scenario.MaxNodes + 1), true},
		{"$..*..*..*", nested(50), true},
		{"$..*..*..*..*..*", nested(200), false},
		{"$[*,*,*,*,*,*,*,*]", list(10_000), false},
		{"$[?count($[*]) > 1]", list(500), true},
		{"$[?count($[*]) > 1]", list(5_000), false},
		{"$[?@.a == $.b]", list(40_000), true},
		{"$[?search(@.t,@.p)]", `[{"p":"(` + strings.Repeat("a", 500) + `){1000}","t":"a"}]`, true}, // no pattern: too long
		{"$[?search(@.t,'b')]", `[{"t":"` + strings.Repeat("a", 1<<20) + `"}]`, true},
		{"$[?search(@.t,@.p)]", `[{"p":"[ab]{500}c","t":"` + strings.Repeat("a", 1<<19) + `"}]`, false},
		{"$.a[?search($.t,@)]", `{"t":"` + strings.Repeat("a", 1<<19) + `","a":["b"` + strings.Repeat(`,"b"`, 10_000) + "]}", false},
		{"$[?match('',@)]", `["` + strings.Join(manyPatterns(40_000), `","`) + `"]`, false},
		{"$..*", "[" + strings.Repeat("[", 200) + `"` + strings.Repeat("x", 1<<17) + `"` + strings.Repeat("]", 201), false},
	} {
		p, err := Parse(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Select(nil, []byte(tc.body)); (err == nil) != tc.fits || err != nil && !errors.Is(err, scenario.ErrLimits) {
			t.Errorf("%s of %.30s…, %d bytes: %v", tc.path, tc.body, len(tc.body), err)
		}
	}
	if _, err := Parse("$" + strings.Repeat("[?(", 10_000)); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}
