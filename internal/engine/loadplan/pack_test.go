package loadplan

import (
	"bytes"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/reqlog"
)

// notPacked are the fields that do not go to another process, each with the reason.
var notPacked = map[string]string{
	"Scenario":        "a program, which package unpack makes again of the rest",
	"Log":             "the memory of this process",
	"Requests.digest": "of a body that is not known any more: such a request is never sent",
}

// fill gives every field of v a value that is not zero, and returns those that are notPacked. The
// values of two neighbours differ.
func fill(t *testing.T, v reflect.Value, n int, path string) (left []string) {
	switch to := v.Addr().Interface().(type) {
	case *netip.Addr:
		*to = netip.AddrFrom4([4]byte{127, 0, byte(n >> 8), byte(n)})
		return nil
	case *netip.Prefix:
		*to = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 30)
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			at := strings.TrimPrefix(path+"."+f.Name, ".")
			if _, is := notPacked[at]; is {
				left = append(left, at)
			} else if f.IsExported() {
				left = append(left, fill(t, v.Field(i), n+i, at)...)
			} else {
				t.Errorf("%s is neither packed nor in the list of what is not, with the reason", at)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n+1, path)
		left = fill(t, v.Index(1), n+2, path)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		left = fill(t, v.Elem(), n, path)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", n, " \xff"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n + 1))
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(uint64(n + 1))
	default:
		t.Errorf("%s is a %v, which cannot be packed; put it into the list of what is not, with the reason", path,
			v.Type())
	}
	return left
}

// A generator in another process gets all of a plan, bodies of any size and sort included, and what
// results hide: the list has what it does not get.
func TestPackLosesNothing(t *testing.T) {
	var p Plan
	if left := fill(t, reflect.ValueOf(&p).Elem(), 1, ""); len(left) != len(notPacked) {
		t.Errorf("of %v the plan has %q", notPacked, left)
	}
	p.Requests[0].Body = bytes.Repeat([]byte{0, 0xff}, 100_000)
	p.Requests[1].Body, p.Requests[1].Header = []byte{}, []proto.Field{{Name: "A", Value: "\x80"}}
	p.Requests[1].Expect.Status, p.Requests[1].Expect.Body = nil, []string{}
	want := p
	p.Log = func(int) *reqlog.Ring { return nil }
	b, err := Pack(p)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Unpack(b); err != nil || !reflect.DeepEqual(back, want) {
		t.Errorf("%v\n%.300v\nwant\n%.300v", err, back, want)
	}
}

// manyRequests is a plan of n requests, with two headers each, and a body of 200 bytes in each tenth.
func manyRequests(n int) Plan {
	p := DefaultPlan()
	body := []byte(strings.Repeat(`{"key": "value", `, 12))
	for i := range n {
		r := Request{Weight: 1, Name: fmt.Sprintf("GET /path/of/%d", i)}
		r.Method, r.Authority, r.Path = "GET", "127.0.0.1:8080", fmt.Sprintf("/path/of/%d?query=%d&more=<x>", i, i)
		r.Header = []proto.Field{{Name: "Accept", Value: "application/json"}, {Name: "X-Request", Value: fmt.Sprint("number ", i)}}
		if i%10 == 0 {
			r.Body = body
		}
		p.Requests = append(p.Requests, r)
	}
	return p
}

// The least that requests can be is packed, too: they are not more than their text allows.
func TestPackOfManyRequests(t *testing.T) {
	p := Plan{Requests: make([]Request, 1<<15+1)} // just after a list has grown to twice its length
	for i := range p.Requests {
		r := &p.Requests[i]
		r.Method, r.Authority, r.Path, r.Name, r.Weight = "GET", "a", "/", "/", 1
	}
	for _, p := range []Plan{p, manyRequests(20_000)} {
		b, err := Pack(p)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Unpack(b); err != nil || !reflect.DeepEqual(back, p) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	p := manyRequests(100_000)
	packed, err := Pack(p)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("pack", func(b *testing.B) {
		b.ReportMetric(float64(len(packed)), "bytes")
		for range b.N {
			if _, err := Pack(p); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unpack", func(b *testing.B) {
		for range b.N {
			if _, err := Unpack(packed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
