package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab/experiment/starter"
	"dyno/internal/setting"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

type node struct {
	Ref        string          `json:"$ref"`
	Type       any             `json:"type"`
	Properties map[string]node `json:"properties"`
	Required   []string        `json:"required"`
	Items      *node           `json:"items"`
	Additional json.RawMessage `json:"additionalProperties"`
	OneOf      []node          `json:"oneOf"`
	Enum       []any           `json:"enum"`
	Minimum    *float64        `json:"minimum"`
	Maximum    *float64        `json:"maximum"`
	Defs       map[string]node `json:"$defs"`
}

// The schema has exactly the keys that the types have, requires those that must
// be given, and has the same choices and limits.
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	var root node
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	c := comparison{t, root}
	c.compare(root, reflect.TypeFor[Experiment](), "", "")
	for name := range root.Defs {
		if !bytes.Contains(Schema(), []byte(`"#/$defs/`+name+`"`)) {
			t.Errorf("$defs.%s is used nowhere", name)
		}
	}
}

type comparison struct {
	*testing.T
	root node
}

// follow is what n refers to, with what n itself says besides.
func (c comparison) follow(n node) node {
	name, is := strings.CutPrefix(n.Ref, "#/$defs/")
	if !is {
		return n
	}
	to, found := c.root.Defs[name]
	if !found {
		c.Errorf("%s refers to nothing", n.Ref)
	}
	if n.Minimum != nil {
		to.Minimum, to.Maximum = n.Minimum, n.Maximum
	}
	return c.follow(to)
}

func (c comparison) compare(n node, typ reflect.Type, tag reflect.StructTag, where string) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	n = c.follow(n)
	for _, one := range n.OneOf { // the long form
		if one = c.follow(one); one.Type == "object" || one.Type == "array" {
			n = one
		}
	}
	switch {
	case isMapping(typ):
		value, _ := typ.Elem().FieldByName("Value")
		var of node
		if n.Type != "object" || json.Unmarshal(n.Additional, &of) != nil {
			c.Errorf("%s: not a mapping in the schema", where)
			return
		}
		c.compare(of, value.Type, "", where+".*")
	case typ.Kind() == reflect.Slice:
		if n.Type != "array" || n.Items == nil {
			c.Errorf("%s: not a list in the schema", where)
			return
		}
		c.compare(*n.Items, typ.Elem(), tag, where+"[]")
	case typ.Kind() == reflect.Struct && isKeyed(typ):
		c.keys(n, typ, where)
	case typ == reflect.TypeFor[Metric]():
		c.enum(n, strings.Join(metricNames(Metrics), ","), where)
	default:
		one, limits := tag.Get("one"), tag.Get("range")
		if s := setting.Keyed(strings.Replace(strings.TrimPrefix(where, "."), "[]", "[0]", 1)); s != nil {
			if !s.Free {
				one = strings.Join(s.Values, ",")
			}
			if s.Most > 0 {
				limits = fmt.Sprintf("%d,%d", s.Least, s.Most)
			}
		}
		c.enum(n, one, where)
		c.limits(n, limits, where)
	}
}

func (c comparison) keys(n node, typ reflect.Type, where string) {
	if string(n.Additional) != "false" {
		c.Errorf("%s: the schema allows other keys", where)
	}
	fields, all, required := keysOf(typ)
	for _, key := range all {
		child, is := n.Properties[key]
		if !is {
			c.Errorf("%s.%s: not in the schema", where, key)
			continue
		}
		c.compare(child, fields[key].Type, fields[key].Tag, where+"."+key)
	}
	if len(n.Properties) != len(all) {
		c.Errorf("%s: %d keys in the schema, %d in %v", where, len(n.Properties), len(all), typ)
	}
	slices.Sort(required)
	if slices.Sort(n.Required); !slices.Equal(n.Required, required) {
		c.Errorf("%s: the schema requires %v, the type %v", where, n.Required, required)
	}
}

func (c comparison) enum(n node, one, where string) {
	var choices []string
	for _, e := range n.Enum {
		if s, is := e.(string); is {
			choices = append(choices, s)
		}
	}
	if got := strings.Join(choices, ","); got != one {
		c.Errorf("%s: the schema allows %q, the type %q", where, got, one)
	}
}

func (c comparison) limits(n node, limits, where string) {
	if limits == "" {
		return
	}
	if n.Minimum == nil || n.Maximum == nil {
		c.Errorf("%s: no limits in the schema, %s in the type", where, limits)
	} else if got := fmt.Sprintf("%.0f,%.0f", *n.Minimum, *n.Maximum); got != limits {
		c.Errorf("%s: within %s in the schema, %s in the type", where, got, limits)
	}
}

func validator(t *testing.T) func(text []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("lab.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("lab.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			return err
		}
		return schema.Validate(v)
	}
}

func TestGoodFilesAreValid(t *testing.T) {
	valid := validator(t)
	for name, text := range good(t) {
		if err := valid(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		e, err := Read("x", bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if stored, err := json.Marshal(e); err != nil || valid(stored) != nil {
			t.Errorf("%s: not valid as stored: %v, %v", name, err, valid(stored))
		}
	}
}

// meaning are the bad files in which only what a schema cannot say is wrong:
// names of nothing, doubles, contradictions, and what templates say.
// Others are wrong in their YAML, of which the validator sees only the values.
var meaning = []string{"capitals", "clients", "custom-tag", "name-of-control", "other-path", "own-http", "protocols",
	"rounds", "run-files", "same-names",
	"sequential", "served", "streams-2", "streams-3", "streams-4", "templates",
	"templates-2", "too-many-variants", "two-documents", "url", "url-alone", "user"}

func TestBadFilesAreNotValid(t *testing.T) {
	valid := validator(t)
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if valid(text) == nil != slices.Contains(meaning, name) {
			t.Errorf("%s: valid: %v", name, valid(text) == nil)
		}
	}
}

// uncommented is the starter with its alternatives, as far as they can be
// together.
func uncommented() []byte {
	var out []string
	inside := false
	begins := regexp.MustCompile(`^( *)# ((go|nginx|running|factors):)$`)
	single := regexp.MustCompile(`^( *)# ((precision|max_rounds|budget|baseline|quick|objectives|gate|profile|- \{).*)$`)
	for line := range strings.Lines(string(starter.Plain())) {
		line = strings.TrimSuffix(line, "\n")
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		rest, comment := strings.CutPrefix(line[len(indent):], "# ")
		inside = comment && (inside || begins.MatchString(line))
		if inside || single.MatchString(line) {
			line = indent + rest
		}
		out = append(out, line)
	}
	return []byte(strings.Join(out, "\n"))
}
