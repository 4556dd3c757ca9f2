package run

import (
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

func TestFailuresOfASession(t *testing.T) {
	check, read := string(loadresult.Check), string(loadresult.Read)
	for _, test := range []struct {
		errors []result.Error
		want   string
	}{
		{nil, "no response came"},
		{[]result.Error{{Phase: read, Kind: "closed", Detail: "it was closed"},
			{Phase: check, Kind: "a.hurl line 4: status 200", Detail: "the answer did not pass"}},
			"a.hurl line 4: status 200; it was closed"},
		{[]result.Error{{Phase: check, Kind: loadresult.Refused, Detail: "a.hurl:4:7: the value has a line end"}},
			"a.hurl:4:7: the value has a line end"},
	} {
		r := new(result.Result)
		r.Errors = test.errors
		if got := failuresText(r); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
