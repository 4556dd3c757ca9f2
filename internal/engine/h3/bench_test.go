package h3

import (
	"bytes"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/prototest"
)

// BenchmarkAsk is what it costs the worker until a request can be written to its stream.
func BenchmarkAsk(b *testing.B) {
	plain, fill := prototest.Filled(holed, "1", "two", "three")
	long, longFill := plain, *fill
	long.Body = bytes.Repeat([]byte("0123456789abcdef"), 256)
	longFill.Body = long.Body
	mk, err := Protocol(Options{Defaults: []proto.Field{{Name: "User-Agent", Value: "dyno/1"}}})(
		[]proto.Request{get, holed}, proto.Want{})
	if err != nil {
		b.Fatal(err)
	}
	for name, m := range map[string]proto.Message{"set": {}, "filled": {Request: 1, Fill: fill},
		"own": {Fill: &proto.Fill{Own: &plain}}, "filled 4 KiB": {Request: 1, Fill: &longFill},
		"own 4 KiB": {Fill: &proto.Fill{Own: &long}}} {
		b.Run(name, func(b *testing.B) {
			c, x := mk(nil).(*codec), exchange{}
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out = c.Encode(out[:0], m, 0)
				c.closeExchange(0)
				if order, _ := parseRecord(out); order.what == askOwn {
					x.setOwn(&order, c.run.messages)
				}
			}
		})
	}
}
