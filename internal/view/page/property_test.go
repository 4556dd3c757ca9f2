package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/payload"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A mutator changes results at random, so that they stay valid by their schema.
type mutator struct {
	t      testing.TB
	random *rand.Rand
	schema *jsonschema.Schema
}

func newMutator(t testing.TB, seed uint64) *mutator {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(result.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("result.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("result.json")
	if err != nil {
		t.Fatal(err)
	}
	return &mutator{t, rand.New(rand.NewPCG(seed, 0)), schema}
}

// mutate makes up to n changes of r's JSON.
func (m *mutator) mutate(r *result.Result, n int) []byte {
	good, err := json.Marshal(r)
	if err != nil {
		m.t.Fatal(err)
	}
	for range n {
		tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(good))
		if err != nil {
			m.t.Fatal(err)
		}
		m.change(tree)
		if m.schema.Validate(tree) != nil {
			continue
		}
		if changed, err := json.Marshal(tree); err == nil {
			good = changed
		}
	}
	return good
}

// change changes one thing somewhere below v.
func (m *mutator) change(v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return
		}
		key := slices.Sorted(maps.Keys(v))[m.random.IntN(len(v))]
		switch inner := v[key]; {
		case m.random.IntN(4) == 0:
			delete(v, key)
		case m.leaf(inner):
			v[key] = m.other(inner)
		default:
			m.change(inner)
		}
	case []any:
		if len(v) == 0 {
			return
		}
		if i := m.random.IntN(len(v)); m.leaf(v[i]) {
			v[i] = m.other(v[i])
		} else {
			m.change(v[i])
		}
	}
}

// leaf says whether v is to be changed as a whole.
func (m *mutator) leaf(v any) bool {
	list, is := v.([]any)
	_, object := v.(map[string]any)
	return !object && (!is || len(list) == 0 || m.random.IntN(3) == 0)
}

func (m *mutator) other(v any) any {
	pick := func(all ...any) any { return all[m.random.IntN(len(all))] }
	switch v := v.(type) {
	case json.Number:
		return pick(json.Number("0"), json.Number("1"), json.Number("1e-7"), json.Number("12345678901234"), nil)
	case string:
		return pick("", hostile, strings.Repeat("long ", 200), "\u2028</script><script>alert(1)</script>")
	case bool:
		return !v
	case []any:
		return v[:m.random.IntN(len(v)+1)]
	}
	return v
}

// Whatever is a result by its schema has a page that shows it, with every number.
func TestAnyResultRenders(t *testing.T) {
	all := results(t)
	names := slices.Sorted(maps.Keys(all))
	for seed := range uint64(6) {
		name := names[seed%uint64(len(names))]
		t.Run(fmt.Sprintf("%s %d", name, seed), func(t *testing.T) {
			m := newMutator(t, seed)
			changed := m.mutate(all[name], 60)
			r, err := result.Decode(changed)
			if err != nil {
				t.Fatalf("valid by the schema, and not decoded: %v", err)
			}
			html := runPage(t, r)
			tab := chromium.OpenPage(t, html)
			tab.ShowTables()
			shows(t, tab, withoutBuckets(r, numbers(t, r)))
		})
	}
}

// FuzzRun looks for results that have no page, and for such as would be markup in it.
func FuzzRun(f *testing.F) {
	for _, r := range results(f) {
		r.Series = r.Series[:min(len(r.Series), 3)]
		for _, d := range []*result.Distribution{r.Latency, r.Service, r.Phases.FirstByte, r.Phases.Connect} {
			if d != nil {
				d.HDR = "" // large, and the histogram's own tests are for what is wrong in it
			}
		}
		b, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := result.Decode(b)
		if err != nil {
			return
		}
		data, err := json.Marshal(payload.OfRun(r))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(data, "<>&\u2028\u2029") {
			t.Errorf("the page's data could end its element: %q", data)
		}
	})
}
