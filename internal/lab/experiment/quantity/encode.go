package quantity

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Encode is the YAML that is read as v. The json tags of structs are its keys, in their order. A
// key is left out if its value is what it has without it; setDefaults sets that, in a pointer to a
// struct. The tag text says more of a field: shown, it is never left out, because people who read
// the file look for it; flow, it stands on one line.
func Encode(v any, setDefaults func(v any)) (*yaml.Node, error) {
	return encoder{setDefaults}.encode(reflect.ValueOf(v))
}

type encoder struct{ setDefaults func(v any) }

func (e encoder) encode(v reflect.Value) (*yaml.Node, error) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if text, is := v.Interface().(encoding.TextMarshaler); is {
		b, err := text.MarshalText()
		if _, wrong := strconv.Atoi(string(b)); wrong == nil { // a number needs no quotes
			return plainNode(string(b)), err
		}
		return textNode(string(b)), err
	}
	switch v.Kind() {
	case reflect.Struct:
		return e.encodeStruct(v)
	case reflect.Slice:
		return e.encodeList(v)
	case reflect.String:
		return textNode(v.String()), nil
	case reflect.Bool:
		return plainNode(strconv.FormatBool(v.Bool())), nil
	case reflect.Int, reflect.Int64:
		return plainNode(strconv.FormatInt(v.Int(), 10)), nil
	case reflect.Float64:
		return plainNode(strconv.FormatFloat(v.Float(), 'f', -1, 64)), nil
	}
	return nil, fmt.Errorf("no file has a %v", v.Type())
}

// textNode is a text, in quotes where any version of YAML takes it for something else.
func textNode(text string) *yaml.Node {
	n := new(yaml.Node)
	_ = n.Encode(text) // a text always can
	return n
}

func plainNode(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

func (e encoder) encodeStruct(v reflect.Value) (*yaml.Node, error) {
	n, without := &yaml.Node{Kind: yaml.MappingNode}, reflect.New(v.Type())
	e.setDefaults(without.Interface())
	for f := range v.Type().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		style := strings.Split(f.Tag.Get("text"), ",")
		value, left := v.FieldByIndex(f.Index), without.Elem().FieldByIndex(f.Index)
		if key == "" || key == "-" || f.Tag.Get("required") == "" && !slices.Contains(style, "shown") &&
			reflect.DeepEqual(value.Interface(), left.Interface()) {
			continue
		}
		of, err := e.encode(value)
		if err != nil {
			return nil, err
		}
		if slices.Contains(style, "flow") {
			of.Style |= yaml.FlowStyle
		}
		n.Content = append(n.Content, textNode(key), of)
	}
	return n, nil
}

// encodeList is a list, or a Mapping.
func (e encoder) encodeList(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	var names []string
	mapping, isMapping := v.Interface().(interface{ Names() []string })
	if isMapping {
		n.Kind, names = yaml.MappingNode, mapping.Names()
	}
	for i := range v.Len() {
		value := v.Index(i)
		if isMapping {
			value, n.Content = value.FieldByName("Value"), append(n.Content, textNode(names[i]))
		}
		of, err := e.encode(value)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, of)
	}
	return n, nil
}
