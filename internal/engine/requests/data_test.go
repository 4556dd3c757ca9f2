package requests

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// What a plan writes of its requests is read as the same requests, secrets aside.
func TestDataIsReadAgain(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:8080/base", "http://example.org:80/",
		"https://example.org/", "http+unix:///tmp/x.sock:/uri", "h2c://[::1]:81/"} {
		base, err := Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		d := Defaults{URL: base, Header: []proto.Field{{Name: "Accept", Value: "*/*"}}}
		var file strings.Builder
		for i := range 50 {
			fmt.Fprintf(&file, `{"url": "/%d?a=b&c=<d>", "body": "ü %d", "weight": %d}`+"\n", i, i, i+1)
		}
		file.WriteString(`{"url": "*", "method": "OPTIONS", "name": "all"}` + "\n" +
			`{"body": "", "method": "PUT", "headers": {"X": ["1", "2"], "Accept": "text/html"}}` + "\n" +
			`{"body_base64": "/wAB"}` + "\n")
		if base.Target.Unix == "" {
			file.WriteString(`{"url": "` + strings.ToUpper(base.origin()) + `/other"}` + "\n")
		}
		all, err := Read("first", strings.NewReader(file.String()), d)
		if err != nil {
			t.Fatal(err)
		}
		p := loadplan.Plan{Target: base.Target, Requests: all}
		var first, second bytes.Buffer
		if err := p.WriteRequests(&first); err != nil {
			t.Fatal(err)
		}
		again, err := Read("again", bytes.NewReader(first.Bytes()), Defaults{URL: base})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again, all) {
			for i := range all {
				if !reflect.DeepEqual(again[i], all[i]) {
					t.Errorf("%s: %+v\nwas  %+v", url, again[i], all[i])
				}
			}
		}
		p.Requests = again
		if err := p.WriteRequests(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: written again it is another: %v", url, err)
		}
	}
}
