package prototest

import (
	"strings"
	"testing"

	"dyno/internal/engine/proto"
)

// A liar is a codec that breaks the contract in one way.
type liar func(in []byte, eof bool) (int, proto.Event)

func (liar) Room() int                                           { return 1 }
func (liar) Encode(out []byte, _ proto.Message, _ uint32) []byte { return out }
func (liar) Flush(out []byte) []byte                             { return out }
func (l liar) Decode(in []byte, eof bool) (int, proto.Event)     { return l(in, eof) }

func TestEvents(t *testing.T) {
	event := func(k proto.Kind) proto.Event { return proto.Event{What: proto.What{Kind: k}} }
	for name, tc := range map[string]struct {
		codec liar
		want  string
	}{
		"honest": {func(in []byte, _ bool) (int, proto.Event) { return len(in), event(proto.More) }, ""},
		"greedy": {func(in []byte, _ bool) (int, proto.Event) { return len(in) + 1, event(proto.More) },
			"used"},
		"endless": {func(in []byte, _ bool) (int, proto.Event) { return 0, event(proto.Done) },
			"without end"},
		"undead": {func(in []byte, _ bool) (int, proto.Event) {
			return min(len(in), 1), event([]proto.Kind{proto.More, proto.Broken}[min(len(in), 1)])
		}, "after Broken"},
		"late": {func(in []byte, eof bool) (int, proto.Event) {
			if in == nil {
				return 0, event(proto.Closing)
			}
			return len(in), event(proto.More)
		}, "after the end"},
	} {
		_, err := Events(tc.codec, []byte("speech"), 4)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
