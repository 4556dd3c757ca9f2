package loadplan

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"dyno/internal/engine/proto"
)

// A way goes to other processes whole, with what results leave out, and without what is sent.
func TestWay(t *testing.T) {
	p := DefaultPlan()
	p.Target, p.ProxyProtocol, p.TLS = Target{TLS: true, Host: "a", Port: 1}, "v2", TLS{CA: "in no result"}
	p.Requests = []Request{{Request: proto.Request{Path: "/a"}}}
	way := p.Way()
	b, err := json.Marshal(struct{ Way Way }{way})
	if err != nil {
		t.Fatal(err)
	}
	var back struct{ Way Way }
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back.Way, way) {
		t.Errorf("%+v, %v, want %+v", back.Way, err, way)
	}
	if err := way.Check(); err != nil || len(way.Requests) > 0 || way.TLS.CA != p.TLS.CA {
		t.Errorf("%v, %+v", err, way)
	}
	way.ProxyProtocol, way.TLS.MinVersion = "v3", "2"
	for _, setting := range []string{"ProxyProtocol", "MinVersion"} {
		if err := way.Check(); !hasFlaw(err, setting) {
			t.Errorf("%v has no flaw of %s", err, setting)
		}
	}
}

func hasFlaw(err error, setting string) bool {
	joined, is := err.(interface{ Unwrap() []error })
	if !is {
		return false
	}
	for _, one := range joined.Unwrap() {
		if f, is := errors.AsType[Flaw](one); is && f.Setting == setting {
			return true
		}
	}
	return false
}
