package h2

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

// An exchange that is canceled is reset and heard of no more, wherever its response
// was; the others go on, and the room comes back with the PING's answer.
func TestCancel(t *testing.T) {
	const headed = "\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88" // stream 1, not its end
	pong := fr(framePing, flagAck, 0, string(probe[:]))
	for name, tc := range map[string]struct {
		before, events string // what the server says, and what that is
		after          string
	}{
		"unanswered":          {"", "", reply(1)},
		"headed":              {headed, "0:200", fr(frameData, flagEnd, 1, "late")},
		"in DATA":             {headed + fr(frameData, 0, 1, "some")[:11], "0:200", "me" + reply(1)},
		"in its last DATA":    {headed + fr(frameData, flagEnd, 1, "some")[:11], "0:200", "me"},
		"in its header":       {fr(frameHeaders, 0, 1, "\x88"), "", fr(frameContinuation, flagEndHeaders, 1, "")},
		"reset by the server": {"", "", fr(frameReset, 0, 1, "\x00\x00\x00\x02")},
	} {
		t.Run(name, func(t *testing.T) {
			c, r := begin(t, Options{Streams: 2}, settled, get)
			c.Encode(c.Encode(nil, proto.Message{}, 0), proto.Message{}, 1)
			in := tc.before
			n, got := 0, []proto.Event{}
			for {
				k, ev := c.Decode([]byte(in[n:]), false)
				if n += k; ev.Kind == proto.More {
					break
				}
				got = append(got, ev)
			}
			if tell(got) != tc.events {
				t.Fatalf("before: %q", tell(got))
			}
			if !c.Cancel(0) || c.Cancel(0) {
				t.Error("canceled not once")
			}
			if got := r.flush(c); got != "rst:1 CANCEL ping:dyno rst" {
				t.Errorf("said %q", got)
			}
			if c.Room() != 0 { // one is under way, and one the server may still carry
				t.Errorf("room for %d", c.Room())
			}
			if got := hear(t, c, in[n:]+tc.after+reply(3)); got != "1:200 1+5" {
				t.Errorf("then %q", got)
			}
			if got := hear(t, c, pong); got != "" || c.Room() != 2 {
				t.Errorf("the PING's answer: %q, room for %d", got, c.Room())
			}
		})
	}
}

// What was left of a canceled upload is not sent.
func TestCancelUpload(t *testing.T) {
	c, r := begin(t, Options{Streams: 2}, settled,
		proto.Request{Method: "PUT", Path: "/", Body: make([]byte, 100_000)})
	r.read(c.Encode(nil, proto.Message{}, 5))
	r.flush(c)
	if !c.Cancel(5) {
		t.Fatal("not canceled")
	}
	hear(t, c, fr(frameWindow, 0, 0, "\x00\x0f\xff\xff")+fr(frameWindow, 0, 1, "\x00\x0f\xff\xff"))
	if got, want := r.flush(c), "rst:1 CANCEL ping:dyno rst"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

// The last exchange of a connection that takes no more ends it, canceled or not.
func TestCancelLast(t *testing.T) {
	c, r := begin(t, Options{CloseAfter: 1}, settled, get)
	c.Encode(nil, proto.Message{}, 7)
	c.Cancel(7)
	if got := r.flush(c); got != "rst:1 CANCEL ping:dyno rst goaway:0 NO_ERROR" {
		t.Errorf("said %q", got)
	}
	got := hear(t, c, fr(framePing, flagAck, 0, string(probe[:])))
	if want := fmt.Sprint(tell([]proto.Event{{What: proto.What{Kind: proto.Closing}}})); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Of many streams that come and go the right ones are canceled, each with one look where tags
// are as small as there are streams, and whatever the tags are.
func TestCancelAmongMany(t *testing.T) {
	const streams = 100
	for name, c := range map[string]struct {
		tag    func(i uint32) uint32
		placed bool // each is found with one look
	}{
		"as load gives them": {func(i uint32) uint32 { return i }, true},
		"scattered":          {func(i uint32) uint32 { return i * 0x10007 }, false},
		"all of one place":   {func(i uint32) uint32 { return i << 16 }, false},
	} {
		s, coin := newStreams(streams), rand.New(rand.NewPCG(1, 2))
		open, next := map[uint32]uint32{}, uint32(1) // the id of each tag that is under way
		for range 10_000 {
			tag := c.tag(coin.Uint32N(streams))
			slot, found := s.slotInFlight(tag)
			if id, under := open[tag]; found != under || found && (s.slots[slot].id != id || s.slots[slot].tag != tag) {
				t.Fatalf("%s: tag %d is in slot %d, %v; its stream is %d, %v", name, tag, slot, found, id, under)
			}
			if at, is := s.slotOfTag(tag); c.placed && (is != found || found && at != slot) {
				t.Fatalf("%s: tag %d is not in its place", name, tag)
			}
			if found {
				s.removeStream(slot)
				delete(open, tag)
				continue
			}
			s.addStream(next, stream{tag: tag})
			open[tag] = next
			next += 2
		}
	}
}

func BenchmarkCancel(b *testing.B) {
	for _, streams := range []int{100, fields.MaxStreams} {
		b.Run(fmt.Sprint(streams), func(b *testing.B) {
			s := newStreams(streams)
			for i := range uint32(streams) {
				s.addStream(2*i+1, stream{tag: i})
			}
			id, tag := uint32(2*streams+1), uint32(0)
			for b.Loop() { // the last slots are the farthest
				tag = (tag + uint32(streams) - 1) % uint32(streams)
				slot, _ := s.slotInFlight(tag)
				s.removeStream(slot)
				s.addStream(id, stream{tag: tag})
				id += 2
			}
		})
	}
}
