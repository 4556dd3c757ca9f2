package loadplan

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"dyno/internal/engine/proto"
)

// fill gives every exported field of v another value than it has.
func fill(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n+i)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n+1)
		fill(v.Index(1), n+2)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", n, " \xff"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n + 1))
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(uint64(n + 1))
	case reflect.Func: // a log stays in its process
	case reflect.Interface: // a scenario: see TestPackOfAScenario
	default:
		panic(v.Type())
	}
}

// A worker gets all of a plan, bodies of any size and sort included.
func TestPackLosesNothing(t *testing.T) {
	var p Plan
	fill(reflect.ValueOf(&p).Elem(), 1)
	p.Requests[0].Body = bytes.Repeat([]byte{0, 0xff}, 100_000)
	p.Requests[1].Header = []proto.Field{{Name: "A", Value: "\x80"}}
	b, err := Pack(p)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Unpack(b); err != nil || !reflect.DeepEqual(back, p) {
		t.Errorf("%v\n%.300v\nwant\n%.300v", err, back, p)
	}
}
