package h3

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/prototest"
	"dyno/internal/engine/ring"
)

// A talk is one connection's ring and codec, and what its sink was given.
type talk struct {
	t     *testing.T
	ring  *Ring
	fd    int
	codec proto.Codec
	given prototest.Record
	begun string // what was given before the status was heard
	out   []byte
	heard int // records
}

func newTalk(t *testing.T, addr ring.Addr, reqs []proto.Request, want proto.Want) *talk {
	t.Helper()
	k := dialTalk(t, addr, reqs, want)
	for k.codec.Room() == 0 {
		k.listen(func(proto.Event) {})
	}
	return k
}

// dialTalk is a talk whose handshake may have to come yet.
func dialTalk(t *testing.T, addr ring.Addr, reqs []proto.Request, want proto.Want) *talk {
	t.Helper()
	mk, err := Protocol(Options{Streams: 40})(reqs, want)
	if err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t}
	k.ring, _ = open(t, addr, reqs, want)
	k.codec = mk(&k.given)
	k.fd, _ = k.ring.Connect(0, 1)
	return k
}

// listen gives on what the codec makes of the ring's next records.
func (k *talk) listen(hear func(ev proto.Event)) {
	k.t.Helper()
	if err := k.ring.Wait(ring.Clock() + int64(time.Hour)); err != nil {
		k.t.Fatal(err)
	}
	done, ok := k.ring.Next()
	if done.Err != nil {
		k.t.Fatal(done.Err)
	}
	for in := done.Data; ok && len(in) > 0; k.heard++ {
		_, n := parseRecord(in)
		if n <= 0 {
			k.t.Fatalf("%x is no record", in)
		}
		if used, ev := k.codec.Decode(in[:n], false); used != n {
			k.t.Fatalf("used %d of %d bytes", used, n)
		} else if ev.Kind != proto.More {
			hear(ev)
		}
		in = in[n:]
	}
}

// exchange is one, to its end. The worker's memory is used for something else at once.
func (k *talk) exchange(m proto.Message, tag uint32) (status uint16, last proto.Event) {
	k.t.Helper()
	k.given.Reset()
	k.heard = 0
	k.out = k.codec.Encode(k.out[:0], m, tag)
	k.ring.Send(k.fd, k.out)
	clear(k.out)
	for last.Kind == proto.More {
		k.listen(func(ev proto.Event) {
			if ev.Kind == proto.Head {
				status, k.begun = ev.Status, k.given.String()
			} else {
				last = ev
			}
		})
	}
	return status, last
}

// large answers with what it was sent, and a MiB. Before that it gives a hint, which is no answer.
func large(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	w.Header().Set("X-Path", "not yet")
	w.WriteHeader(http.StatusEarlyHints)
	for name, value := range map[string]string{"X-Path": r.RequestURI, "X-Id": r.Header.Get("X-Id"),
		"X-Host": r.Host, "X-Body": fmt.Sprintf("%x %v", md5.Sum(body), err), "Trailer": "X-Sum"} {
		w.Header().Set(name, value)
	}
	w.Header()["X-B"] = []string{"2", "1"}
	w.WriteHeader(http.StatusCreated)
	for range 1 << 10 {
		w.Write(bytes.Repeat([]byte("0123456789abcdef"), 1<<6))
	}
	w.Header().Set("X-Sum", "all")
}

// Against quic-go's own server: messages with holes and of their own, with bodies and without, and
// of each response the fields of header and trailer that are wanted, and 1,000 bytes of a MiB.
func TestWanted(t *testing.T) {
	reqs := []proto.Request{get, holed, {Method: "GET", Authority: "y", Path: "/",
		Holes: []proto.Hole{{In: proto.InPath, At: 1}}}}
	k := newTalk(t, serve(t, 100, large), reqs, proto.Want{Body: 1000,
		Fields: []string{"x-sum", "x-path", "x-id", "x-host", "x-body", "x-b", "date2"}})
	given := func(tag uint32, r *proto.Request, host, id string) string {
		body := strings.Repeat("0123456789abcdef", 1<<6)[:1000]
		return fmt.Sprintf("%[1]d x-b: 2;%[1]d x-b: 1;%[1]d x-body: %[2]x <nil>;%[1]d x-host: %[3]s;"+
			"%[1]d x-id: %[4]s;%[1]d x-path: %[5]s;%[1]d %[6]s;%[1]d x-sum: all (trailer);",
			tag, md5.Sum(r.Body), host, id, r.Path, body)
	}
	for _, i := range []uint32{0, 1, 7} {
		n, long := fmt.Sprint(i), strings.Repeat("v", int(i)*10_000)
		plain, fill := prototest.Filled(holed, n, n, n)
		own, _ := prototest.Filled(holed, n, "own"+long, n)
		got, gotFill := prototest.Filled(reqs[2], n)
		for _, tc := range []struct {
			m    proto.Message
			want string
		}{
			{proto.Message{}, given(i, &get, "host", "")},
			{proto.Message{Request: 1, Fill: fill}, given(i, &plain, "h"+n, "a-"+n+"z")},
			{proto.Message{Request: 2, Fill: gotFill}, given(i, &got, "y", "")},
			{proto.Message{Fill: &proto.Fill{Own: &own}}, given(i, &own, "hown"+long, "a-"+n+"z")},
		} {
			status, last := k.exchange(tc.m, i)
			if status != 201 || last.Kind != proto.Done || last.Body != 1<<20 {
				t.Fatalf("status %d, %+v", status, last)
			}
			if got := sortFields(k.given.String()); got != tc.want {
				t.Errorf("given %.900q\nwant %.900q", got, tc.want)
			}
			if header, _, _ := strings.Cut(tc.want, fmt.Sprint(i, " 0123")); sortFields(k.begun) != header {
				t.Errorf("before the status: %.900q", k.begun)
			}
		}
	}
}

// sortFields sorts what was given of a header by name, for quic-go's server sends it in any order.
func sortFields(given string) string {
	all := strings.SplitAfter(given, ";")
	n := slices.IndexFunc(all, func(s string) bool { return !strings.Contains(s, ": ") })
	slices.SortStableFunc(all[:n], func(a, b string) int {
		nameA, _, _ := strings.Cut(a, ":")
		nameB, _, _ := strings.Cut(b, ":")
		return strings.Compare(nameA, nameB)
	})
	return strings.Join(all, "")
}

// Where nothing is wanted the ring says nothing more of a response than its status and its end.
func TestUnwanted(t *testing.T) {
	k := newTalk(t, serve(t, 100, large), []proto.Request{get}, proto.Want{})
	if _, last := k.exchange(proto.Message{}, 0); last.Body != 1<<20 || k.heard != 2 ||
		k.given.String() != "" {
		t.Errorf("%+v, %d records, given %.100q", last, k.heard, k.given.String())
	}
}
