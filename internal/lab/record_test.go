package lab

import (
	"bytes"
	"dyno/internal/fact"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

// The stored form of a record has these keys in this order, and is read again without loss. Other
// programs rely on both.
func TestRecordGolden(t *testing.T) {
	record := new(Record)
	n := 0
	fill(t, reflect.ValueOf(record).Elem(), &n)
	record.Format, record.Here = ExperimentFormat, "a folder"
	got, err := json.MarshalIndent(record, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", "record.golden.json")
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s (go test -update writes it) is not\n%s", path, got)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, RecordFile), want, 0o666); err != nil {
		t.Fatal(err)
	}
	read, err := ReadRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	e := json.NewEncoder(&again)
	e.SetIndent("", " ")
	if err := e.Encode(read); err != nil || !bytes.Equal(again.Bytes(), want) {
		t.Errorf("%v: what was read is written as\n%s", err, &again)
	}
}

// fill gives every field that is stored a value of its own, so that none is left out as empty.
func fill(t *testing.T, v reflect.Value, n *int) {
	next := func() int64 { *n++; return int64(*n) }
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Unix(next(), 0).UTC()
		return
	case *fact.Args:
		*at = fact.Steal{Percent: float64(next())}
		return
	case *json.RawMessage:
		*at = fmt.Appendf(nil, `{"key":%d}`, next())
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(next())
	case reflect.Uint64:
		v.SetUint(uint64(next()))
	case reflect.Float64:
		v.SetFloat(float64(next()) + 0.5)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", next()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), n)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, value, n)
		v.Set(reflect.MakeMap(v.Type()))
		key := reflect.New(v.Type().Key()).Elem()
		if key.Kind() == reflect.String {
			key.SetString(fmt.Sprint("key ", next()))
		} else {
			fill(t, key, n)
		}
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(t, v.Field(i), n)
			}
		}
	default:
		t.Fatalf("a %s cannot be filled", v.Type())
	}
}
