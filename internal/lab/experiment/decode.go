package experiment

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fault"
	"dyno/internal/lab/experiment/keys"
	"dyno/internal/lab/experiment/source"
	"dyno/internal/setting"
)

// maxNodes limits the nodes of a file after its aliases are followed. It keeps a few lines of
// nested aliases from becoming millions of values.
const maxNodes = 100_000

// A decoder sets values from nodes, and records where each was.
type decoder struct {
	file   string
	text   source.Text
	faults Faults
	values map[string]*yaml.Node // by path, as design.rounds or levels[1].name
	keys   map[string]*yaml.Node

	undecoded map[string]bool // paths of values that could not be decoded
	nodes     int
}

func newDecoder(file string, text []byte) *decoder {
	return &decoder{file: file, text: source.New(text), values: map[string]*yaml.Node{},
		keys: map[string]*yaml.Node{}, undecoded: map[string]bool{}}
}

// decodeExperiment decodes the whole file. It checks the version first, because the keys of another
// version would mean nothing.
func (d *decoder) decodeExperiment(root *yaml.Node, e *Experiment) {
	if root.Kind != yaml.MappingNode {
		d.addFault(root, "", "%s is given; an experiment is a mapping that begins with version: %d",
			kindOf(root), Version)
		return
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Value == "version" && value.Kind == yaml.ScalarNode &&
			value.Value != strconv.Itoa(Version) {
			d.addFault(value, "version", "%q is not a version that this dyno reads; it reads %d",
				value.Value, Version)
			return
		}
	}
	d.decodeValue(root, "", reflect.ValueOf(e).Elem(), "")
}

// decodeValue sets v from n. path is the path of n, and tag that of the field.
func (d *decoder) decodeValue(n *yaml.Node, path string, v reflect.Value, tag reflect.StructTag) {
	if d.isOverLimit(n) {
		return
	}
	d.values[path] = n
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	setDefaults(v.Addr().Interface())
	d.decodeInto(n, path, v, tag)
}

// decodeInto is decodeValue for a node that is no alias, and a value that is no pointer.
func (d *decoder) decodeInto(n *yaml.Node, path string, v reflect.Value, tag reflect.StructTag) {
	text, isText := v.Addr().Interface().(encoding.TextUnmarshaler)
	growing, isMapping := v.Addr().Interface().(growing)
	switch {
	case !knownTag(n):
		d.addMismatch(n, path, "the tag %s is not known here; leave it out", n.Tag)
	case n.ShortTag() == "!!null":
		d.addMismatch(n, path, "nothing is given; give a value, or leave the key out")
	case isText && n.Kind == yaml.ScalarNode:
		if err := text.UnmarshalText([]byte(n.Value)); err != nil {
			d.addMismatch(n, path, "%v", err)
			return
		}
		d.checkLimits(n, path, v, tag)
	case isMapping && n.Kind == yaml.MappingNode:
		d.decodeMapping(n, path, growing)
	case v.Kind() == reflect.Struct && n.Kind == yaml.MappingNode && isKeyed(v.Type()):
		d.decodeStruct(n, path, v)
	case v.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode && !isMapping:
		d.decodeSequence(n, path, v, tag)
	case n.Kind == yaml.ScalarNode && !isText && d.decodeScalar(n, path, v):
		d.checkLimits(n, path, v, tag)
	default:
		d.addMismatch(n, path, "%s is given; %s is wanted%s", kindOf(n), describeWanted(v), quotesHint(n))
	}
}

// isOverLimit counts n, and reports whether the limit is exceeded.
func (d *decoder) isOverLimit(n *yaml.Node) bool {
	if d.nodes++; d.nodes == maxNodes+1 {
		d.addFault(n, "", "more than %d values; aliases stand for too much", maxNodes)
	}
	return d.nodes > maxNodes
}

// decodeStruct sets the fields of v, by their tags.
func (d *decoder) decodeStruct(n *yaml.Node, path string, v reflect.Value) {
	fields, allowed, required := keysOf(v.Type())
	given := map[string]bool{}
	d.eachEntry(n, path, func(key, value *yaml.Node) {
		field, known := fields[key.Value]
		if !known {
			d.addFault(key, path, "%q is not a key%s", key.Value,
				d.suggestKey(path, key.Value, allowed))
			return
		}
		given[key.Value] = true
		at := joinPath(path, key.Value)
		d.keys[at] = key
		d.decodeValue(value, at, v.FieldByIndex(field.Index), field.Tag)
	})
	for _, key := range required {
		if !given[key] {
			d.addFault(n, path, "%s is missing", key)
		}
	}
}

// decodeMapping adds each entry of n to m.
func (d *decoder) decodeMapping(n *yaml.Node, path string, m growing) {
	d.eachEntry(n, path, func(key, value *yaml.Node) {
		at := joinPath(path, key.Value)
		d.keys[at] = key
		d.decodeValue(value, at, reflect.ValueOf(m.Add(key.Value)).Elem(), "")
	})
}

// decodeSequence sets v to the elements of n.
func (d *decoder) decodeSequence(n *yaml.Node, path string, v reflect.Value,
	tag reflect.StructTag) {
	v.Set(reflect.MakeSlice(v.Type(), 0, len(n.Content)))
	for i, element := range n.Content {
		if d.nodes > maxNodes {
			return
		}
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		d.decodeValue(element, fmt.Sprintf("%s[%d]", path, i), v.Index(i), tag)
	}
}

// decodeScalar sets v of a basic kind, and reports whether that was possible.
func (d *decoder) decodeScalar(n *yaml.Node, path string, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
	case reflect.Bool:
		v.SetBool(n.Value == "true")
		return n.ShortTag() == "!!bool" && (n.Value == "true" || n.Value == "false")
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(n.Value, 10, 64)
		v.SetInt(i)
		return err == nil
	case reflect.Float64:
		f, ok := setting.PlainNumber(n.Value)
		v.SetFloat(f)
		return ok
	default:
		return false
	}
	return true
}

// checkLimits checks v against the limits in its field's tag.
func (d *decoder) checkLimits(n *yaml.Node, path string, v reflect.Value, tag reflect.StructTag) {
	if one := tag.Get("one"); one != "" {
		allowed := strings.Split(one, ",")
		if !slices.Contains(allowed, n.Value) {
			d.addMismatch(n, path, "%q is not possible%s", n.Value, orAllowed(n.Value, allowed))
		}
	}
	if s := setting.Keyed(path); s != nil {
		d.checkSetting(n, path, v, s)
	}
	if limits := tag.Get("range"); limits != "" {
		low, high, _ := strings.Cut(limits, ",")
		least, _ := strconv.ParseInt(low, 10, 64)
		most, _ := strconv.ParseInt(high, 10, 64)
		if i := v.Int(); i < least || i > most {
			d.addMismatch(n, path, "%s is not within %d to %d", n.Value, least, most)
		}
	}
}

// checkSetting checks a value by the table of settings. How its text is read is the business of its
// type: "auto" is a list of CPUs here, and no value of a flag.
func (d *decoder) checkSetting(n *yaml.Node, path string, v reflect.Value, s *setting.Setting) {
	switch {
	case len(s.Values) > 0 && !s.Free && !slices.Contains(s.Values, n.Value):
		d.addMismatch(n, path, "%q is not possible%s", n.Value, orAllowed(n.Value, s.Values))
	case s.Most > 0 && v.CanInt() && (v.Int() < s.Least || v.Int() > s.Most):
		d.addMismatch(n, path, "%s is not within %d to %d", n.Value, s.Least, s.Most)
	case path == "workload.user" && isKnownLater(n.Value):
	case isOfPlan(s):
		if err := keys.Set(new(loadplan.Plan), s, v); err != nil {
			d.addMismatch(n, path, "%v", err)
		}
	}
}

// addMismatch adds the fault that the value of path, n, is of the wrong kind.
func (d *decoder) addMismatch(n *yaml.Node, path, format string, args ...any) {
	d.undecoded[path] = true
	d.addFault(n, path, format, args...)
}

// addFault adds a fault at n, of the value at a path.
func (d *decoder) addFault(n *yaml.Node, path, format string, args ...any) {
	d.addFaultAt(source.Place{Line: n.Line, Column: n.Column}, path, format, args...)
}

func (d *decoder) addFaultAt(p source.Place, path, format string, args ...any) {
	if len(d.faults) >= maxLooked {
		return
	}
	message := fmt.Sprintf(format, args...)
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "..."
	}
	d.faults = append(d.faults, fault.Fault{File: d.file, Line: p.Line, Column: p.Column, Path: path,
		Problem: message})
}

// nodeAt is the node of a path, or the nearest existing one around it.
func (d *decoder) nodeAt(path string) *yaml.Node {
	for {
		if n := d.values[path]; n != nil || path == "" {
			return n
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// keyAt is the key of a path, or the nearest existing one around it.
func (d *decoder) keyAt(path string) *yaml.Node {
	if n := d.keys[path]; n != nil {
		return n
	}
	return d.nodeAt(path)
}

// A growing is a *Mapping of any type.
type growing interface{ Add(name string) any }
