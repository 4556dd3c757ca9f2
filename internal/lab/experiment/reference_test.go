package experiment

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The tables of docs/lab.md that have the keys of a file are those of the schema, and all of it.
func TestReference(t *testing.T) {
	const page = "../../../docs/lab.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node // which keeps the order of keys
	if err := yaml.Unmarshal(Schema(), &document); err != nil {
		t.Fatal(err)
	}
	r := reference{root: document.Content[0], defs: valueOf(document.Content[0], "$defs"), had: map[string]bool{}}
	table := regexp.MustCompile(`(?s)(<!-- keys: (\S+) (\S*)-->\n).*?(<!-- end -->)`)
	made := table.ReplaceAllStringFunc(string(text), func(old string) string {
		m := table.FindStringSubmatch(old)
		return m[1] + "| key | written as | what it does |\n|---|---|---|\n" + r.table(m[2], m[3]) + m[4]
	})
	switch {
	case *update:
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	case made != string(text):
		t.Errorf("a table of %s is not that of the schema; write it with -update", page)
	}
	for i := 0; i < len(r.defs.Content); i += 2 {
		name := r.defs.Content[i].Value
		if valueOf(r.defs.Content[i+1], "properties") != nil && !r.had[name] {
			t.Errorf("%s has no table with the keys of %s", page, name)
		}
	}
}

// A reference writes tables of the schema.
type reference struct {
	root, defs *yaml.Node
	had        map[string]bool // the definitions that are in one
}

// valueOf is the value of a key; nil if there is none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func textOf(n *yaml.Node, key string) string {
	if v := valueOf(n, key); v != nil {
		return v.Value
	}
	return ""
}

// follow is what n refers to, and its name; n itself if it refers to nothing.
func (r *reference) follow(n *yaml.Node) (*yaml.Node, string) {
	if name, is := strings.CutPrefix(textOf(n, "$ref"), "#/$defs/"); is {
		return valueOf(r.defs, name), name
	}
	return n, ""
}

// table has a row for each key of a definition ("file": of the whole file), and of the maps in it
// that have no table of their own.
func (r *reference) table(name, prefix string) string {
	n := r.root
	if name != "file" {
		n, r.had[name] = valueOf(r.defs, name), true
	}
	var b strings.Builder
	required, all := valueOf(n, "required"), valueOf(n, "properties")
	for _, choice := range choices(n) {
		if all == nil {
			all = valueOf(choice, "properties")
		}
	}
	for i := 0; i < len(all.Content); i += 2 {
		key, p := all.Content[i].Value, all.Content[i+1]
		says := textOf(p, "description")
		def, to := r.follow(p)
		if says == "" && (!isType(to) || to == "environment" || to == "bodyrules") {
			says = textOf(def, "description")
		}
		if required != nil && slices.ContainsFunc(required.Content, func(n *yaml.Node) bool { return n.Value == key }) {
			says = strings.TrimSuffix("required; "+says, "; ")
		}
		b.WriteString("| `" + prefix + key + "` | " + r.written(p) + " | " + strings.ReplaceAll(says, "|", `\|`) + " |\n")
		if inline[to] {
			b.WriteString(r.table(to, prefix+key+"."))
		}
	}
	return b.String()
}

// inline are the definitions that are shown in the table of what has them.
var inline = map[string]bool{"warmup": true, "cpus": true, "clients": true, "short": true, "limits": true,
	"ready": true, "stop": true}

// types are the definitions that have a name in the tables, and not what their schema says.
var types = map[string]string{"name": "name", "duration": "duration", "share": "percent", "amount": "count",
	"scalar": "text, number", "texts": "list", "template": "template", "environment": "map", "command": "command",
	"cpulist": "CPU list", "statuses": "statuses", "bodyrules": "text or list", "metric": "metric",
	"metrics": "list of metrics"}

func isType(def string) bool { return types[def] != "" }

func choices(n *yaml.Node) []*yaml.Node {
	if one := valueOf(n, "oneOf"); one != nil {
		return one.Content
	}
	return nil
}

// written is how a value is written.
func (r *reference) written(p *yaml.Node) string {
	def, to := r.follow(p)
	if isType(to) {
		return types[to]
	}
	if all := choices(def); all != nil {
		var each []string
		for _, c := range all {
			each = append(each, r.written(c))
		}
		return strings.Join(slices.Compact(each), ", or ")
	}
	if all := valueOf(def, "enum"); all != nil {
		var each []string
		for _, v := range all.Content {
			if text := "`" + v.Value + "`"; !slices.Contains(each, text) {
				each = append(each, text)
			}
		}
		return strings.Join(each, ", ")
	}
	if v := textOf(def, "const"); v != "" {
		return "`" + v + "`"
	}
	kind := valueOf(def, "type")
	what := kind.Value
	if kind.Kind == yaml.SequenceNode {
		what = kind.Content[0].Value
	}
	least, most := textOf(def, "minimum"), textOf(def, "maximum")
	switch what {
	case "integer":
		if least != "" && most != "" {
			return least + " to " + most
		}
		return "whole number"
	case "boolean":
		return "true, false"
	case "array":
		if one := r.written(valueOf(def, "items")); !slices.Contains([]string{"text", "map", "text, number"}, one) {
			return "list of " + one
		}
		return "list"
	case "object":
		return "map"
	}
	return map[string]string{"string": "text", "number": "number"}[what]
}
