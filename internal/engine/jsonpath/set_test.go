package jsonpath

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// A Set finds what each of its paths finds alone: the first value that is set, or the last one.
func TestSet(t *testing.T) {
	r, found := rand.New(rand.NewPCG(3, 4)), 0
	for range 20_000 {
		var texts []string
		for range 1 + r.IntN(4) {
			text := "$"
			for range r.IntN(4) {
				text += []string{".a", "['b']", "[0]", "[1]", "[*]", ".*"}[r.IntN(6)]
			}
			texts = append(texts, text)
		}
		set, err := ParseSet(texts)
		if err != nil {
			t.Fatal(err)
		}
		a := []string{`"a"`, `"\u0061"`}[r.IntN(2)]
		body := strings.NewReplacer(`"é"`, `"c"`, `"\u0061"`, `"d"`, `"a"`, a).Replace(randomValue(r, 4))
		if body = unique(body); body == "" {
			continue
		}
		values := make([][]byte, len(texts))
		if err := set.Select(values, []byte(body)); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		for i, text := range texts {
			path, _ := Parse(text)
			all, err := path.Select(nil, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != 0 != (values[i] != nil) {
				t.Fatalf("%s in %s: %q, alone %q", text, body, values[i], all)
			}
			if len(all) == 0 {
				continue
			}
			isSet, known := false, false
			for _, one := range all {
				isSet = isSet || IsSet(one)
				known = known || sameJSON(one, values[i])
			}
			if !known || isSet != IsSet(values[i]) {
				t.Fatalf("%s in %s: %q, alone %q", text, body, values[i], all)
			}
			found++
		}
	}
	if found < 5000 {
		t.Errorf("only %d values were found", found)
	}
}

// unique is a document without members of the same name, of which a Set takes another one; "" if it
// has some.
func unique(body string) string {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return ""
	}
	again, _ := json.Marshal(v)
	if strings.Count(body, ":") != strings.Count(string(again), ":") {
		return ""
	}
	return body
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func TestSetOfNoJSON(t *testing.T) {
	set, err := ParseSet([]string{"$.a[*].b", "$.a"})
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]byte, 2)
	for _, body := range []string{"", "{", `{"a":[{"b":1}`, `{"a":[{"b":}]}`, `{"a":1} x`, `{"a":[1,]}`, "[DONE]",
		strings.Repeat("[", 20_000), `{"a":` + strings.Repeat("[", 20_000)} {
		if err := set.Select(values, []byte(body)); !errors.Is(err, ErrNotJSON) {
			t.Errorf("%.30s: %v", body, err)
		}
	}
	body := []byte(`{"x":0,"a":[{"c":2},{"b":[]},{"b":"y"}]}`)
	if n := testing.AllocsPerRun(10, func() {
		if set.Select(values, body) != nil {
			t.Error("no JSON")
		}
	}); n > 0 || string(values[0]) != `"y"` {
		t.Errorf("%v allocations, %s", n, values[0])
	}
}
