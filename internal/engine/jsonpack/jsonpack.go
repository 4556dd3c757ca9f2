// Package jsonpack writes a value as JSON for another dyno, and reads it again as the same value.
//
// encoding/json is for people and other programs: tags leave out secrets, methods round and
// shorten. Here every exported field goes along by its name in Go, whatever its tags and methods
// say, so a new field cannot be forgotten. A field that is zero is left out, and nil is told from
// empty. A text that is not UTF-8, or that escapes would make longer than base64 does, is a list of
// one text, in base64.
//
// What is read may be anybody's: it cannot take much more memory than its text.
//
//	jsonpack.go   writes (Append)
//	read.go       reads (Read), within limits of memory
package jsonpack

import (
	"encoding"
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// Append appends the JSON of v. A function or an interface is an error unless it is nil.
func Append(to []byte, v any) ([]byte, error) {
	w := writer{to, shapes{}}
	err := w.write(reflect.ValueOf(v))
	return w.text, err
}

type writer struct {
	text []byte
	shapes
}

func (w *writer) write(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		w.text = strconv.AppendBool(w.text, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.text = strconv.AppendInt(w.text, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.text = strconv.AppendUint(w.text, v.Uint(), 10)
	case reflect.String:
		w.writeText(v.String())
	case reflect.Pointer:
		if !v.IsNil() {
			return w.write(v.Elem())
		}
		w.text = append(w.text, "null"...)
	case reflect.Slice:
		return w.writeList(v)
	case reflect.Struct:
		return w.writeStruct(v)
	default:
		return fmt.Errorf("a %v stays in its process", v.Type())
	}
	return nil
}

// writeText writes the bytes of a text.
func (w *writer) writeText(s string) {
	if !utf8.ValidString(s) || escapes(s) > len(s)/3 {
		w.text = append(w.text, `["`...)
		w.text = base64.StdEncoding.AppendEncode(w.text, []byte(s))
		w.text = append(w.text, `"]`...)
		return
	}
	w.text = append(w.text, '"')
	from := 0
	for i := range len(s) {
		const hex = "0123456789abcdef"
		switch c := s[i]; {
		case c == '"' || c == '\\':
			w.text = append(append(w.text, s[from:i]...), '\\', c)
			from = i + 1
		case c < ' ':
			w.text = append(append(w.text, s[from:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			from = i + 1
		}
	}
	w.text = append(append(w.text, s[from:]...), '"')
}

// escapes is how many bytes longer a text is as JSON.
func escapes(s string) (n int) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			n++
		case c < ' ':
			n += len(`\u0000`) - 1
		}
	}
	return n
}

func (w *writer) writeList(v reflect.Value) error {
	switch {
	case v.IsNil():
		w.text = append(w.text, "null"...)
		return nil
	case v.Type().Elem().Kind() == reflect.Uint8:
		w.writeText(string(v.Bytes()))
		return nil
	}
	w.text = append(w.text, '[')
	for i := range v.Len() {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		if err := w.write(v.Index(i)); err != nil {
			return err
		}
	}
	w.text = append(w.text, ']')
	return nil
}

func (w *writer) writeStruct(v reflect.Value) error {
	fields := w.fieldsOf(v.Type())
	if len(fields) == 0 {
		text, is := v.Interface().(encoding.TextMarshaler)
		if !is {
			return fmt.Errorf("a %v has no exported fields, and no text", v.Type())
		}
		b, err := text.MarshalText()
		w.writeText(string(b))
		return err
	}
	w.text = append(w.text, '{')
	begun := false
	for _, f := range fields {
		value := v.Field(f.index)
		if value.IsZero() {
			continue
		}
		if begun {
			w.text = append(w.text, ',')
		}
		begun = true
		w.text = append(append(append(w.text, '"'), f.name...), '"', ':')
		if err := w.write(value); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	w.text = append(w.text, '}')
	return nil
}

// A field is an exported field of a struct.
type field struct {
	name  string
	index int
}

// shapes are the exported fields of the structs that were met.
type shapes map[reflect.Type][]field

func (all shapes) fieldsOf(t reflect.Type) []field {
	fields, known := all[t]
	if !known {
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				fields = append(fields, field{f.Name, i})
			}
		}
		all[t] = fields
	}
	return fields
}
