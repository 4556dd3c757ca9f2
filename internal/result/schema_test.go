package result

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

type node struct {
	Ref        string          `json:"$ref"`
	Properties map[string]node `json:"properties"`
	Required   []string        `json:"required"`
	Items      *node           `json:"items"`
	Additional any             `json:"additionalProperties"`
	Defs       map[string]node `json:"$defs"`
}

// The schema has exactly the keys that the types have, and requires those that
// are always there.
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	var root node
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	compare(t, root, root, reflect.TypeFor[Result](), "result")
}

var (
	marshals = reflect.TypeFor[json.Marshaler]()
	texts    = reflect.TypeFor[encoding.TextMarshaler]()
)

func compare(t *testing.T, root, n node, typ reflect.Type, where string) {
	if ref, is := strings.CutPrefix(n.Ref, "#/$defs/"); is {
		n = root.Defs[ref]
	}
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ.Implements(marshals), typ.Implements(texts): // a number or a string, or loadplan.Request: see TestSamples
	case typ.Kind() == reflect.Slice:
		if n.Items == nil {
			t.Errorf("%s: an array without items in the schema", where)
			return
		}
		compare(t, root, *n.Items, typ.Elem(), where+"[]")
	case typ.Kind() == reflect.Struct:
		compareKeys(t, root, n, typ, where)
	}
}

func compareKeys(t *testing.T, root, n node, typ reflect.Type, where string) {
	if n.Additional != false {
		t.Errorf("%s: the schema allows other keys", where)
	}
	left := len(n.Properties)
	for _, f := range reflect.VisibleFields(typ) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" || f.Anonymous && key == "" { // whose fields are visible themselves
			continue
		}
		child, is := n.Properties[key]
		if !is {
			t.Errorf("%s.%s: not in the schema", where, key)
			continue
		}
		left--
		if always := !strings.HasPrefix(options, "omit"); always != slices.Contains(n.Required, key) {
			t.Errorf("%s.%s: always there: %v; required by the schema: %v", where, key, always, !always)
		}
		compare(t, root, child, f.Type, where+"."+key)
	}
	if left != 0 {
		t.Errorf("%s: %d keys of the schema are not in %v", where, left, typ)
	}
}

func TestSamples(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
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
	valid := func(b []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	for name, run := range map[string]*loadresult.Result{"closed": closedRun(), "open": openRun(),
		"watched": closedRun(), "beside": besideRun(), "fleet": openRun(), "users": scenarioRun(false),
		"open users": scenarioRun(true), "unreachable": {Plan: loadplan.DefaultPlan(), Ended: loadresult.Unreachable, Cause: "refused"}} {
		r := from(t, run)
		r.ID = "20260102-150405-4f2a"
		if name == "fleet" {
			r.SetFleet(fleetOf(r))
		}
		if name == "watched" {
			r.Server, r.Profile = watchSelf(t, r), profileOf(t)
		}
		if r.Plan.Requests == nil {
			r.Plan.Requests = []loadplan.Request{}
		}
		var b bytes.Buffer
		if err := Encode(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := valid(b.Bytes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for old, changed := range map[string]string{`"model": "`: `"model": "half `,
			`"dyno":`: `"dino":`, `"measured_s": `: `"measured_s": -1`} {
			bad := bytes.Replace(b.Bytes(), []byte(old), []byte(changed), 1)
			if valid(bad) == nil {
				t.Errorf("%s: valid even with %s", name, changed)
			}
		}
	}
}
