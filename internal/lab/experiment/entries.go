package experiment

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"dyno/internal/nearest"
)

// maxMerges is how deeply mappings may be merged into each other.
const maxMerges = 16

// eachEntry calls each with every key of the mapping n and its value, in order. Then it calls it
// with those that << merges into n and that n does not have itself.
func (d *decoder) eachEntry(n *yaml.Node, path string, each func(key, value *yaml.Node)) {
	d.eachMerged(n, path, map[string]*yaml.Node{}, each, 0)
}

func (d *decoder) eachMerged(n *yaml.Node, path string, seen map[string]*yaml.Node,
	each func(key, value *yaml.Node), depth int) {
	var merges []*yaml.Node
	own := map[string]bool{}
	for i := 0; i+1 < len(n.Content) && !d.isOverLimit(n); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		first := seen[key.Value]
		switch {
		case key.ShortTag() == "!!merge":
			merges = append(merges, value)
		case key.Kind != yaml.ScalarNode:
			d.addFault(key, path, "%s is given as a key; a text is wanted%s", kindOf(key),
				quotesHint(n))
		case own[key.Value]:
			d.addFault(key, path, "%q is given twice, first in line %d", key.Value, first.Line)
		case first == nil:
			seen[key.Value], own[key.Value] = key, true
			each(key, value)
		}
	}
	for _, m := range merges {
		d.mergeNode(m, path, seen, each, depth+1)
	}
}

// mergeNode merges the value of <<: a mapping, or several.
func (d *decoder) mergeNode(n *yaml.Node, path string, seen map[string]*yaml.Node,
	each func(key, value *yaml.Node), depth int) {
	at := n
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case d.isOverLimit(at):
	case depth > maxMerges:
		d.addFault(at, path, "<< merges a mapping into itself, or too deeply")
	case n.Kind == yaml.MappingNode:
		d.eachMerged(n, path, seen, each, depth)
	case n.Kind == yaml.SequenceNode:
		for _, one := range n.Content {
			d.mergeNode(one, path, seen, each, depth+1)
		}
	default:
		d.addFault(at, path, "<< merges %s; a mapping is wanted, as *NAME", kindOf(n))
	}
}

// keysOf returns the keys of a struct, from its tags: its fields, their names in order, and those
// that are required.
func keysOf(t reflect.Type) (fields map[string]reflect.StructField, all, required []string) {
	fields = map[string]reflect.StructField{}
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "" || key == "-" {
			continue
		}
		fields[key] = f
		all = append(all, key)
		if f.Tag.Get("required") == "true" {
			required = append(required, key)
		}
	}
	return fields, all, required
}

// isKeyed reports whether a struct is a mapping in the file, and not a text.
func isKeyed(t reflect.Type) bool {
	_, all, _ := keysOf(t)
	return len(all) > 0
}

// synonyms are other programs' names of keys.
var synonyms = map[string]string{
	"runs": "rounds", "repetitions": "rounds", "repeat": "rounds", "iterations": "rounds",
	"duration": "measure", "concurrency": "connections", "command": "cmd", "exec": "cmd",
	"args": "cmd", "cwd": "dir", "workdir": "dir", "environment": "env", "slo": "objectives",
	"slos": "objectives", "servers": "variants", "loads": "levels", "parameters": "factors",
	"params": "factors", "qps": "rate", "rps": "rate", "keepalive": "reconnect",
	"ulimits": "limits", "health": "ready", "healthcheck": "ready", "header": "headers",
	"title": "name", "requires": "needs", "noise": "margin",
}

// suggestKey suggests which key may have been meant: one of allowed, or one of another place in the
// file.
func (d *decoder) suggestKey(path, key string, allowed []string) string {
	if s := synonyms[key]; slices.Contains(allowed, s) {
		return "; did you mean " + s + "?"
	}
	if n := nearest.ClosestName(key, allowed); n != "" {
		return "; did you mean " + n + "?"
	}
	for _, name := range []string{key, synonyms[key]} {
		if home := homeOf(name); home != "" {
			return fmt.Sprintf(" of this place; did you mean %s?", home)
		}
	}
	return orAllowed("", allowed)
}

// homeOf is the path in the file where key most likely belongs: the only one with the least depth;
// "" if there is none.
func homeOf(key string) string {
	homes := homesOf(key, reflect.TypeFor[Experiment](), "")
	depth := func(path string) int { return strings.Count(path, ".") }
	slices.SortStableFunc(homes, func(a, b string) int { return depth(a) - depth(b) })
	if len(homes) == 0 || len(homes) > 1 && depth(homes[0]) == depth(homes[1]) {
		return ""
	}
	return homes[0]
}

// homesOf are all paths in the file where key is allowed.
func homesOf(key string, t reflect.Type, path string) (homes []string) {
	switch t.Kind() {
	case reflect.Pointer:
		return homesOf(key, t.Elem(), path)
	case reflect.Slice:
		if isMapping(t) {
			value, _ := t.Elem().FieldByName("Value")
			return homesOf(key, value.Type, path+".NAME")
		}
		return homesOf(key, t.Elem(), path+"[]")
	case reflect.Struct:
		fields, all, _ := keysOf(t)
		for _, k := range all {
			at := joinPath(path, k)
			if k == key {
				homes = append(homes, at)
			}
			homes = append(homes, homesOf(key, fields[k].Type, at)...)
		}
	}
	return homes
}

// isMapping reports whether t is a Mapping.
func isMapping(t reflect.Type) bool { return reflect.PointerTo(t).Implements(growings) }

var growings = reflect.TypeFor[growing]()

// joinPath appends a key to a path.
func joinPath(path, key string) string {
	switch {
	case strings.ContainsAny(key, ".[") || key == "":
		return fmt.Sprintf("%s[%q]", path, key)
	case path == "":
		return key
	}
	return path + "." + key
}

// knownTag reports whether n has one of YAML's own types.
func knownTag(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!map", "!!seq", "!!merge":
		return true
	}
	return false
}

// kindOf describes the type of n.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	if len(n.Value) > 40 {
		return "a text"
	}
	return fmt.Sprintf("%q", n.Value)
}

// quotesHint explains why YAML reads a template without quotes as a mapping.
func quotesHint(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0 &&
		n.Content[0].Kind == yaml.MappingNode {
		return "; a value that begins with {{ is written in quotes, '{{...}}'"
	}
	return ""
}

// describeWanted describes what v can be decoded from.
func describeWanted(v reflect.Value) string {
	_, isText := v.Addr().Interface().(encoding.TextUnmarshaler)
	switch kind := v.Kind(); {
	case isMapping(v.Type()), kind == reflect.Struct && isKeyed(v.Type()):
		return "a mapping"
	case kind == reflect.Slice && isText:
		return "a text or a list"
	case kind == reflect.Slice:
		return "a list"
	case kind == reflect.Bool:
		return "true or false"
	case kind == reflect.Int, kind == reflect.Int64:
		return "a whole number"
	case kind == reflect.Float64:
		return "a number"
	}
	return "a text"
}
