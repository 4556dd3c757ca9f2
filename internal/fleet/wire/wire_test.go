package wire

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"dyno/internal/engine/loadplan"
)

func TestSubjects(t *testing.T) {
	for subject, want := range map[string]string{
		CommandSubject("a-1", Arm): "a-1 arm", CommandSubject(Everyone, Heartbeat): "all beat", EventSubject("A_b", Reported): "A_b report",
		"dyno.cmd.a": "", "dyno.cmd..arm": "", "dyno.cmd.a.b.c": "", "dyno.hub.a.b": "", "": "",
		"dyno.ev.*.report": "", "dyno.ev." + strings.Repeat("a", 64) + ".report": "",
	} {
		agent, what, ok := ParseSubject(subject)
		if got := agent + " " + what; ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", subject, got, ok, want)
		}
	}
}

// kinds are the messages that come from others.
func kinds() []any {
	return []any{&DiscoveryQuery{}, &Hello{}, &Piece{}, &RunRef{}, &Answer{}, &ClockSync{}, &Instruction{}, &Shard{}, &Ack{}, &Stop{}, &Report{}}
}

func TestDecodeIsStrict(t *testing.T) {
	for text, want := range map[string]string{
		`{"run":"r","epoch":"e"}`:          "",
		`{"run":"r","epoch":"e","more":1}`: "unknown field",
		`{"run":"r"} {"run":"s"}`:          "follows",
		`{"run":"r"}x`:                     "follows",
		`{"run":1}`:                        "cannot unmarshal",
		`{"run":"r"`:                       "EOF",
		``:                                 "EOF",
		`{"run":"` + strings.Repeat("r", MessageMax) + `"}`: "at most",
	} {
		err := Decode([]byte(text), new(RunRef))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
}

// What can be read is what would be written, whoever wrote it.
func FuzzDecode(f *testing.F) {
	f.Add(0, []byte(`{"asked":"x"}`))
	f.Add(10, []byte(`{"run":"r","seq":1,"tick":{"Index":0,"Latency":{"count":1,"sum":2,"min":2,"max":2,`+
		`"digits":3,"buckets":"AgE="}}}`))
	f.Add(2, []byte(`{"run":"r","from":"X","index":0,"count":1,"data":"AAA="}`))
	f.Fuzz(func(t *testing.T, kind int, b []byte) {
		all := kinds()
		m := all[uint(kind)%uint(len(all))]
		if Decode(b, m) != nil {
			return
		}
		again := reflect.New(reflect.TypeOf(m).Elem()).Interface()
		if err := Decode(Encode(m), again); err != nil {
			t.Fatalf("%s was read and is written as %s: %v", b, Encode(m), err)
		}
		if one, other := Encode(m), Encode(again); !bytes.Equal(one, other) {
			t.Errorf("%s, read again %s", one, other)
		}
	})
}

func curve(t *testing.T) (nkeys.KeyPair, string) {
	t.Helper()
	key, err := nkeys.CreateCurveKeys()
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key, public
}

func plan() loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Target.Host, p.Connections = "10.0.0.1", 7
	p.Requests = []loadplan.Request{{Weight: 1}}
	p.Requests[0].Body = bytes.Repeat([]byte{0xff, 0}, 100_000)
	return p
}

// An order can be opened by the agent it is for, if nobody has changed it, and is then
// what was sealed.
func TestOrders(t *testing.T) {
	signer, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	stranger, _ := nkeys.CreateUser()
	mine, public := curve(t)
	others, _ := curve(t)
	packed, err := loadplan.Pack(plan())
	if err != nil {
		t.Fatal(err)
	}
	o := Order{RunRef: RunRef{"run", "epoch"}, Agent: "a", Nonce: "n", Version: "1", Geometry: Geometry(), Plan: packed}
	sealed, from, err := o.Seal(signer.Sign, public)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("10.0.0.1")) {
		t.Error("the plan can be read by whoever sees it")
	}
	back, p, err := OpenOrder(sealed, from, mine, signer.Verify)
	if err != nil || !reflect.DeepEqual(back, o) || !reflect.DeepEqual(p, plan()) {
		t.Errorf("%+v %v", back, err)
	}
	forged, forger, err := o.Seal(stranger.Sign, public)
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(sealed)
	changed[len(changed)/2] ^= 1
	for name, try := range map[string]func() error{
		"changed":            func() error { _, _, err := OpenOrder(changed, from, mine, signer.Verify); return err },
		"for another":        func() error { _, _, err := OpenOrder(sealed, from, others, signer.Verify); return err },
		"signed by another":  func() error { _, _, err := OpenOrder(forged, forger, mine, signer.Verify); return err },
		"from somebody else": func() error { _, _, err := OpenOrder(sealed, public, mine, signer.Verify); return err },
		"cut short":          func() error { _, _, err := OpenOrder(sealed[:9], from, mine, signer.Verify); return err },
		"by nobody":          func() error { _, _, err := OpenOrder(sealed, "", mine, signer.Verify); return err },
	} {
		if try() == nil {
			t.Errorf("%s: opened", name)
		}
	}
	deep := bytes.Repeat([]byte("["), 4<<20) // nothing of them is kept
	text := Encode(signed{Text: deep, Signature: []byte("s")})
	if sealed, err = mine.Seal(text, public); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err = OpenOrder(sealed, public, mine, func(_, _ []byte) error { return nil })
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err == nil || !strings.Contains(err.Error(), "lie 65 deep; 64 at most") ||
		used > 6*uint64(len(text)) {
		t.Errorf("brackets in brackets: %v, and %d MiB were allocated", err, used>>20)
	}
	refuse := func([]byte) ([]byte, error) { return nil, errors.New("no key") }
	if _, _, err := o.Seal(refuse, public); err == nil {
		t.Error("sealed without a signature")
	}
}

// An instruction is what was signed, or fails to be read.
func TestInstructions(t *testing.T) {
	signer, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	stranger, _ := nkeys.CreateUser()
	for _, i := range []Instruction{
		{RunRef: RunRef{Run: "r"}, Agent: Everyone, Verb: Heartbeat, Number: 1, SentAt: -5},
		{RunRef: RunRef{"r", "e"}, Agent: "a", Verb: Arm, Number: 2, SentAt: 7, Start: -12},
		{RunRef: RunRef{"r", "e"}, Agent: "a", Verb: Reshard, Number: 3, NewShard: &Shard{After: 5, Part: 1, Weights: []int{2, 1}}},
		{RunRef: RunRef{"r", "e"}, Agent: "a", Verb: StopLoad, Stop: &Stop{Aborted: true, Why: "so"}},
	} {
		b, err := i.EncodeSigned(signer.Sign)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseInstruction(b, signer.Verify); err != nil || !reflect.DeepEqual(back, i) {
			t.Errorf("%+v, was %+v, %v", back, i, err)
		}
		if _, err := ParseInstruction(b, stranger.Verify); err == nil {
			t.Errorf("%+v: another's signature is accepted", i)
		}
		for at := range b { // whatever is changed of it
			changed := slices.Clone(b)
			changed[at] ^= 1
			if back, err := ParseInstruction(changed, signer.Verify); err == nil && !reflect.DeepEqual(back, i) {
				t.Errorf("%s is read as %+v", changed, back)
			}
		}
		if _, err := ParseInstruction(Encode(i), signer.Verify); err == nil {
			t.Errorf("%+v: read without a signature", i)
		}
	}
	o := Order{RunRef: RunRef{"r", "e"}, Agent: "a"}
	text := Encode(o)
	signature, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseInstruction(Encode(signed{text, signature}), signer.Verify); err == nil {
		t.Error("an order is read as an instruction")
	}
	refuse := func([]byte) ([]byte, error) { return nil, errors.New("no key") }
	if _, err := (Instruction{}).EncodeSigned(refuse); err == nil {
		t.Error("there is one without a signature")
	}
}

// FuzzReadInstruction reads what anybody can have said, as if it were signed.
func FuzzReadInstruction(f *testing.F) {
	f.Add([]byte(`{"run":"r","epoch":"e","agent":"a","verb":"stop","number":1,"said":2,"ends":{"why":"x"}}`))
	f.Add([]byte(`{"run":"r","agent":"a","verb":"share","changes":{"after":1,"part":0,"weights":[1]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		i, err := ParseInstruction(Encode(signed{Text: text}), func(_, _ []byte) error { return nil })
		if err != nil {
			return
		}
		b, err := i.EncodeSigned(func([]byte) ([]byte, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseInstruction(b, func(_, _ []byte) error { return nil })
		if one, other := Encode(i), Encode(again); err != nil || !bytes.Equal(one, other) {
			t.Errorf("%s, read again %s, %v", one, other, err)
		}
	})
}

func TestCut(t *testing.T) {
	for _, n := range []int{0, 1, PieceMax, PieceMax + 1, 3*PieceMax + 5} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rand.Int())
		}
		pieces := SplitPieces(b, PieceMax)
		if !bytes.Equal(slices.Concat(pieces...), b) || len(pieces) != max((n+PieceMax-1)/PieceMax, 1) {
			t.Errorf("%d bytes: %d pieces", n, len(pieces))
		}
		for _, p := range pieces {
			if m := Encode(Piece{Data: p}); len(m) > MessageMax/2 {
				t.Errorf("a message of %d bytes", len(m))
			}
		}
	}
}
