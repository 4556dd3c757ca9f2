package setting

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
)

// WithSettings is a JSON schema in which the table describes settings. A line "$settings": "PLACE"
// among the properties of an object stands for those of a place: "plan", "tls" or "stream" of a
// result, "level", "workload" or "workload.stream" of an experiment's file.
func WithSettings(schema []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(schema) {
		before, place, is := strings.Cut(string(line), `"$settings": "`)
		if !is {
			out.Write(line)
			continue
		}
		place, after, _ := strings.Cut(place, `"`)
		all := properties(place)
		for i, p := range all {
			if i < len(all)-1 {
				p += ",\n"
			}
			out.WriteString(before + p)
		}
		out.WriteString(after)
	}
	return out.Bytes()
}

// properties are those of a place, a line each.
func properties(place string) (all []string) {
	for i := range Table {
		s := &Table[i]
		switch place {
		case "plan", "tls", "stream":
			key, of := s.storedAs(place)
			if key != "" {
				all = append(all, property(key, s.withValues(of, false), s.withDefault(s.Stored)))
			}
		default:
			dot := max(strings.LastIndexByte(s.Key, '.'), 0)
			in, key := s.Key[:dot], strings.TrimPrefix(s.Key[dot:], ".")
			if in == place && s.Schema.Type != "" {
				of := s.withValues(s.Schema.Type, true) + s.limits()
				all = append(all, property(key, of, s.withDefault(s.Schema.Does)))
			}
		}
	}
	return all
}

// oneOf is the type of a setting that has one of its Values.
const oneOf = `"enum": [{values}]`

// withValues is a type in which oneOf stands for the values: for YAML also as the numbers that some
// of them are there without quotes.
func (s *Setting) withValues(of string, yaml bool) string {
	var texts, numbers []string
	for _, v := range s.Values {
		texts = append(texts, strconv.Quote(v))
		if _, is := PlainNumber(v); is && yaml {
			numbers = append(numbers, v)
		}
	}
	return strings.ReplaceAll(of, "{values}", strings.Join(append(texts, numbers...), ", "))
}

// limits are those of a number, for a schema.
func (s *Setting) limits() string {
	if s.Most == 0 {
		return ""
	}
	return fmt.Sprintf(`, "minimum": %d, "maximum": %d`, s.Least, s.Most)
}

func property(key, of, does string) string {
	if does != "" {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		_ = e.Encode(does) // of a string, into memory
		of += `, "description": ` + strings.TrimSuffix(text.String(), "\n")
	}
	return fmt.Sprintf("%q: {%s}", key, of)
}

// storedAs is the key of a result's plan, or of its TLS or stream, that a setting is stored under,
// and its type; "" if it is not stored there.
func (s *Setting) storedAs(place string) (key, of string) {
	t := reflect.TypeFor[loadplan.Plan]()
	switch place {
	case "stream":
		t = reflect.TypeFor[loadplan.Stream]()
	case "tls":
		t = reflect.TypeFor[loadplan.TLS]()
	}
	var f reflect.StructField
	for name := range strings.SplitSeq(s.Field, ".") {
		found, is := t.FieldByName(name)
		if !is {
			return "", ""
		}
		f, t = found, found.Type
	}
	key, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	if key == "-" || s.Called != "" {
		return "", ""
	}
	if s.StoredType != "" {
		return key, s.StoredType
	}
	return key, typeOf(f.Type)
}

// typeOf is the schema of a field's type.
func typeOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[loadplan.Seconds](), t == reflect.TypeFor[loadplan.Rate]():
		return `"$ref": "#/$defs/quantity"`
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()), t.Kind() == reflect.String:
		return `"type": "string"`
	case t.Kind() == reflect.Bool:
		return `"type": "boolean"`
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Int:
		return `"type": "array", "items": {"type": "integer", "minimum": 0}`
	case t.Kind() == reflect.Slice:
		return `"type": "array", "items": {` + typeOf(t.Elem()) + `}`
	case t.Kind() == reflect.Pointer:
		return typeOf(t.Elem())
	case t.Kind() == reflect.Struct:
		return `"$ref": "#/$defs/` + strings.ToLower(t.Name()) + `"`
	}
	return `"$ref": "#/$defs/count"`
}
