package failure

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// What a scenario's error says is kept on one line, and is cut where it is long.
func TestReasonsAreShort(t *testing.T) {
	f := Counts{}
	k := OfCheck("order")
	f.CountAnswer(k, 409, ring.Addr{}, errors.New(" no id\r\nin the body "+strings.Repeat("é", 400)))
	all := f.ByFrequency()
	if len(all) != 1 || all[0].Phase != loadresult.Check {
		t.Fatalf("%+v", all)
	}
	says := all[0].Detail
	if !strings.HasPrefix(says, "no id in the body é") || !strings.HasSuffix(says, "é…") || len(says) > 310 {
		t.Errorf("%d bytes: %q", len(says), says)
	}
}

// An answer that did not pass a check is told with its status: that of the first.
func TestCheckNamesTheStatus(t *testing.T) {
	f := Counts{}
	k := OfCheck("line 2: status 200")
	f.CountAnswer(k, 409, ring.Addr{}, nil)
	f.CountAnswer(k, 500, ring.Addr{}, nil)
	got := f.ByFrequency()
	if len(got) != 1 || got[0].Count != 2 || got[0].Status != 409 ||
		got[0].Detail != "the answer, of status 409, did not pass the check" {
		t.Errorf("%+v", got)
	}
}

// What a scenario or a stream says of an answer is its detail. Of a status that is an error the status says all.
func TestWhoSaysTheDetail(t *testing.T) {
	for k, want := range map[Kind]string{
		OfCheck("order"):                        "so says it",
		{Phase: loadresult.Stream, Name: "cut"}: "so says it",
		OfStatus(503):                           "503",
	} {
		f := Counts{}
		f.CountAnswer(k, 503, ring.Addr{}, errors.New("so says it"))
		if got := f.ByFrequency(); len(got) != 1 || got[0].Detail != want {
			t.Errorf("%+v: %+v", k, got)
		}
	}
}

// A connection that ended too early failed to be read; whoever broke a rule failed otherwise.
func TestPhaseOf(t *testing.T) {
	for kind, want := range map[string]loadresult.Phase{
		proto.FaultClosed: loadresult.Read, proto.FaultTruncated: loadresult.Read,
		proto.FaultProxy: loadresult.Protocol, "": loadresult.Protocol,
	} {
		err := fmt.Errorf("it failed: %w", &proto.Fault{Kind: kind})
		if kind == "" {
			err = io.ErrUnexpectedEOF
		}
		if got := PhaseOf(err); got != want {
			t.Errorf("%q: %v", kind, got)
		}
	}
}

// A failure of the system names the status that stood before it, once there is a whole head; another failure does not.
func TestBehind(t *testing.T) {
	const named = ", behind the head of an answer with status 413"
	for _, c := range []struct {
		status uint16
		err    error
		want   string
	}{
		{413, syscall.ECONNRESET, "connection reset by peer" + named}, {0, syscall.ECONNRESET, "connection reset by peer"},
		{99, syscall.ECONNRESET, "connection reset by peer"}, {413, ErrTimeout, "no answer in time"},
	} {
		if got := Describe(behind(c.status, c.err)); got != c.want {
			t.Errorf("%d, %v: %q, want %q", c.status, c.err, got, c.want)
		}
	}
}
