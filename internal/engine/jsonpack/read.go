package jsonpack

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"

	"dyno/internal/engine/jsonscan"
)

// memoryMost is how many bytes of memory a byte of text may become, besides memorySome and the text
// itself. The shortest request of a plan takes three, in a list that has room for twice as many.
const (
	memoryMost = 8
	memorySome = 1 << 20
)

// Read reads what Append wrote into to, a pointer to a value that is zero.
func Read(text []byte, to any) error {
	r := reader{text: text, memory: memorySome + memoryMost*len(text), shapes: shapes{}}
	err := r.read(reflect.ValueOf(to).Elem())
	if err == nil && r.at != len(text) {
		err = errors.New("something follows it")
	}
	if err != nil {
		return fmt.Errorf("byte %d: %w", r.at, err)
	}
	return nil
}

type reader struct {
	text   []byte
	at     int
	memory int // bytes that may still be taken
	shapes
}

var (
	errNoJSON = errors.New("it is no JSON, or ends too early")
	errKind   = errors.New("another kind of value is expected")
	errMemory = errors.New("it has more values than its length allows")
)

// take counts memory.
func (r *reader) take(size uintptr) error {
	if r.memory -= int(size); r.memory < 0 {
		return errMemory
	}
	return nil
}

// next is the first byte of the next value; 0 at the end.
func (r *reader) next() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *reader) read(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if r.isNull() {
			return nil
		}
		if err := r.take(v.Type().Elem().Size()); err != nil {
			return err
		}
		v.Set(reflect.New(v.Type().Elem()))
		return r.read(v.Elem())
	case reflect.Slice:
		return r.readList(v)
	case reflect.Struct:
		return r.readStruct(v)
	case reflect.String:
		b, err := r.readText()
		v.SetString(string(b))
		return err
	}
	return r.readScalar(v)
}

// isNull reads null, if that is next.
func (r *reader) isNull() bool {
	if r.next() != 'n' {
		return false
	}
	end, ok := jsonscan.Skip(r.text, r.at)
	if ok {
		r.at = end
	}
	return ok
}

// readScalar reads a number, true or false.
func (r *reader) readScalar(v reflect.Value) (err error) {
	end, ok := jsonscan.Skip(r.text, r.at)
	if !ok {
		return errNoJSON
	}
	word := string(r.text[r.at:end])
	switch v.Kind() {
	case reflect.Bool:
		if v.SetBool(word == "true"); word != "true" && word != "false" {
			return errKind
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(word, 10, v.Type().Bits())
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		var n uint64
		n, err = strconv.ParseUint(word, 10, v.Type().Bits())
		v.SetUint(n)
	default:
		return fmt.Errorf("a %v is in no text", v.Type())
	}
	if err != nil {
		return errKind
	}
	r.at = end
	return nil
}

// readText reads the bytes of a text: a string, or a list of one string in base64. They may lie in
// what is read.
func (r *reader) readText() ([]byte, error) {
	encoded := r.next() == '['
	if encoded {
		r.at++
	}
	if r.next() != '"' {
		return nil, errKind
	}
	end, ok := jsonscan.Skip(r.text, r.at)
	if !ok {
		return nil, errNoJSON
	}
	b := r.text[r.at+1 : end-1]
	if bytes.IndexByte(b, '\\') >= 0 || !utf8.Valid(b) {
		b = jsonscan.AppendUnquoted(nil, r.text[r.at:end])
	}
	if r.at = end; !encoded {
		return b, nil
	}
	if r.next() != ']' {
		return nil, errKind
	}
	r.at++
	return base64.StdEncoding.AppendDecode(nil, b)
}

func (r *reader) readList(v reflect.Value) error {
	element := v.Type().Elem()
	switch {
	case r.isNull():
		return nil
	case element.Kind() == reflect.Uint8:
		b, err := r.readText()
		v.SetBytes(append([]byte{}, b...))
		return err
	case r.next() != '[':
		return errKind
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	w := jsonscan.Walk{Text: r.text, At: r.at + 1}
	for w.Next() {
		if before := v.Cap(); v.Len() == before {
			v.Grow(max(v.Len(), 1))
			if err := r.take(element.Size() * uintptr(v.Cap()-before)); err != nil {
				return err
			}
		}
		v.SetLen(v.Len() + 1)
		r.at = w.At
		if err := r.read(v.Index(v.Len() - 1)); err != nil {
			return err
		}
		w.At = r.at
	}
	if r.at = w.At; !w.Ended {
		return errNoJSON
	}
	return nil
}

func (r *reader) readStruct(v reflect.Value) error {
	fields := r.fieldsOf(v.Type())
	if len(fields) == 0 {
		b, err := r.readText()
		if text, is := v.Addr().Interface().(encoding.TextUnmarshaler); is && err == nil {
			return text.UnmarshalText(b)
		}
		return errors.Join(err, errKind)
	}
	if r.next() != '{' {
		return errKind
	}
	w := jsonscan.Walk{Text: r.text, At: r.at + 1, Object: true}
	next := 0 // of the fields: they come in order
	for w.Next() {
		key, met := w.Key[1:len(w.Key)-1], 0
		for met < len(fields) && fields[(next+met)%len(fields)].name != string(key) {
			met++
		}
		if r.at = w.At; met == len(fields) {
			return fmt.Errorf("%.80s is not a field of %v", w.Key, v.Type())
		}
		f := fields[(next+met)%len(fields)]
		if err := r.read(v.Field(f.index)); err != nil {
			return err
		}
		next, w.At = next+met+1, r.at
	}
	if r.at = w.At; !w.Ended {
		return errNoJSON
	}
	return nil
}
