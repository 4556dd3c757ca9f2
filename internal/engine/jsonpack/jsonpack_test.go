package jsonpack

import (
	"errors"
	"math"
	"net/netip"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

type inner struct {
	Name, Value string
}

type whole struct {
	inner // is not exported
	Inner inner
	Text  string `json:"-"`
	Bytes []byte
	List  []inner
	Lists [][]int16
	To    *inner
	Tos   []*inner
	Yes   bool
	Low   int64
	High  uint64
	Small uint8
	At    netip.Addr
	Range netip.Prefix
	Do    func()
	Any   any
}

// What is read is what was written, to the byte and to the nil.
func TestSame(t *testing.T) {
	for _, v := range []whole{
		{},
		{Text: "a\"b\\c\n\x00\u2028<&>é", Bytes: []byte{0, 0xff, '"'}, Low: math.MinInt64, High: math.MaxUint64, Small: 255, Yes: true},
		{Text: "\xff", Bytes: []byte{}, List: []inner{}, Tos: []*inner{nil, {}, {"", "x"}}, To: &inner{}},
		{Bytes: []byte("text"), List: []inner{{}, {"a", "\x80"}}, Lists: [][]int16{nil, {}, {1, -2}}, Inner: inner{"<", ""}},
		{At: netip.MustParseAddr("fe80::1%eth0"), Range: netip.MustParsePrefix("10.0.0.0/8")},
	} {
		text, err := Append([]byte("x"), v)
		if err != nil {
			t.Errorf("%+v: %v", v, err)
			continue
		}
		var back whole
		if err := Read(text[1:], &back); err != nil || !reflect.DeepEqual(back, v) {
			t.Errorf("%s\nis read as %+v, %v", text, back, err)
		}
	}
	for _, v := range []whole{{Do: func() {}}, {Any: 1}} {
		if _, err := Append(nil, v); err == nil || !strings.Contains(err.Error(), "stays in its process") {
			t.Error(err)
		}
	}
}

// No text takes more than base64 makes of it.
func TestLength(t *testing.T) {
	for _, s := range []string{strings.Repeat("\x00", 3000), strings.Repeat(`"`, 3000), strings.Repeat("\n", 3000),
		strings.Repeat("a\x01", 1500), strings.Repeat("\xff", 3000), strings.Repeat("<a href=\"\">\n", 250)} {
		text, err := Append(nil, inner{Name: s})
		if err != nil || len(text) > len(s)*4/3+20 {
			t.Errorf("%.10q: %d bytes became %d, %v", s, len(s), len(text), err)
		}
	}
}

// What is no such JSON is refused, with its place.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                                     "byte 0: another kind",
		`{`:                                    "byte 1: it is no JSON",
		`{} `:                                  "byte 2: something follows",
		`{"Text":1}`:                           "byte 8: another kind",
		`{"Text":["YQ=="`:                      "byte 15: another kind",
		`{"Text":["?"]}`:                       "illegal base64",
		`{"Text":"a`:                           "byte 8: it is no JSON",
		`{"text":""}`:                          `"text" is not a field of jsonpack.whole`,
		`{"inner":{}}`:                         `"inner" is not a field`,
		`{"Small":256}`:                        "byte 9: another kind",
		`{"Low":1.5}`:                          "byte 7: another kind",
		`{"Yes":1}`:                            "byte 7: another kind",
		`{"List":{}}`:                          "byte 8: another kind",
		`{"List":[{},]}`:                       "it is no JSON",
		`{"List":[{}`:                          "byte 11: it is no JSON",
		`{"At":"x"}`:                           "unable to parse IP",
		`{"Do":{}}`:                            "is in no text",
		`{"Any":[[[[[[[[[[`:                    "it is no JSON",
		`{"Lists":[[[1]]]}`:                    "another kind",
		`{"Inner":{"Inner":{}}}`:               "is not a field",
		`{"Lists":[[1],nul]}`:                  "another kind",
		strings.Repeat("[", 1<<20):             "byte 0: another kind",
		`{"Any":` + strings.Repeat("[", 1<<20): "it is no JSON",
	} {
		var v whole
		if err := Read([]byte(text), &v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

// A text does not become much more memory, whatever it says.
func TestMemory(t *testing.T) {
	const n = 1 << 20
	var before, after runtime.MemStats
	for field, refused := range map[string]bool{`{"List":[{}`: true, `{"Tos":[{}`: true, `{"Lists":[[1,2,3,4,5,6,7]`: false} {
		_, element, _ := strings.Cut(field, ":[")
		text := []byte(field + strings.Repeat(","+element, n) + "]}")
		var v whole
		runtime.ReadMemStats(&before)
		err := Read(text, &v)
		runtime.ReadMemStats(&after)
		if errors.Is(err, errMemory) != refused || !refused && (err != nil || len(v.Lists) != n+1) {
			t.Errorf("%s...: %v", field, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 64*uint64(len(text)) { // what lists outgrew included
			t.Errorf("%s...: %d bytes took %d", field, len(text), taken)
		}
	}
}

// FuzzRead reads anything: what it takes is written and read as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"Text":["/w=="],"Bytes":"","List":[{"Name":"a"},{}],"Lists":[null,[1]],"To":{},"At":"::1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var v, back whole
		if Read(text, &v) != nil {
			return
		}
		again, err := Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if err := Read(again, &back); err != nil || !reflect.DeepEqual(v, back) {
			t.Errorf("%q is read as %+v, and again as %+v, %v", text, v, back, err)
		}
	})
}
