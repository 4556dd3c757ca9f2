package failure

import (
	"errors"
	"strings"
	"testing"

	"dyno/internal/engine/loadresult"
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
