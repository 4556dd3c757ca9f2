package auth

import (
	"fmt"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// A user's signer is kept, whoever sends requests in between, because its keys cost as much as a signature. So many are
// kept, and no more.
func TestSignersAreKept(t *testing.T) {
	s := signers{plan: &loadplan.Plan{}}
	of := func(who string) signer {
		return s.of(&proto.Request{Auth: "sigv4:x/s3", Header: []proto.Field{{Name: "Authorization", Value: who}}})
	}
	a, b := of("a:1"), of("b:1")
	if of("a:1") != a || of("b:1") != b || a == b || of("a:2") == a {
		t.Error("a signer is not that of its user, or is made again")
	}
	for i := range 3 * mostKept {
		of(fmt.Sprint(i, ":1"))
		if len(s.kept) > mostKept {
			t.Fatalf("%d are kept", len(s.kept))
		}
	}
}
