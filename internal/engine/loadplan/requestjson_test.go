package loadplan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

func TestRequestJSON(t *testing.T) {
	fields := []proto.Field{{Name: "Accept", Value: "*/*"}, {Name: "X", Value: ""}}
	request := func(body string) Request {
		return Request{Name: "buy", Weight: 3, Request: proto.Request{Method: "PUT",
			Authority: "host:81", Path: "/a?b=1&c=<2>", Header: fields, Body: []byte(body)}}
	}
	const head = `{"name":"buy","method":"PUT","authority":"host:81","path":"/a?b=1&c=<2>",` +
		`"headers":[{"name":"Accept","value":"*/*"},{"name":"X","value":""}],`
	for _, test := range []struct{ body, Want string }{
		{"", `"weight":3}`},
		{"p=ü&q", `"body":"p=ü&q","weight":3}`},
		{"\xff\x00", `"body_bytes":2,"body_sha256":` +
			`"ea5dbf9596d187e9500f23e9a680109475341cf4e81f7e043f7d97152c10772f","weight":3}`},
		{strings.Repeat("a", longestBody+1), `"body_bytes":4097,"body_sha256":` +
			`"4e369b5618643c3abddd027b650bfa54810be3b418028a7c9d82299a59d008e8","weight":3}`},
	} {
		first, err := request(test.body).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(first)); got != head+test.Want {
			t.Errorf("%.20q: %s\nwant %s", test.body, got, head+test.Want)
		}
		var back Request
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatal(err)
		}
		if again, _ := back.MarshalJSON(); string(again) != string(first) {
			t.Errorf("%.20q: read and written again: %s", test.body, again)
		}
		whole := request(test.body)
		if len(test.body) == 0 {
			whole.Body = nil
		}
		if back.digest == (digest{}) && !reflect.DeepEqual(back, whole) {
			t.Errorf("%.20q: came back as %+v", test.body, back)
		}
	}
}
