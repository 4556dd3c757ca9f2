package auth

import (
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/scenario"
)

// Whatever a server asks, the answer is a field that can be sent, or there is none; and what is asked is
// bounded.
func FuzzChallenge(f *testing.F) {
	f.Add(`Digest realm="r", nonce="n", qop="auth"`)
	f.Add(`Digest realm=, nonce="\"", algorithm=SHA-512-256, userhash=true`)
	f.Add("Digest \x00realm=\"\xff\x01\", nonce=\"a\tb\"")
	f.Add(`digest nonce="` + strings.Repeat("n", 5000) + `"`)
	f.Fuzz(func(t *testing.T, asks string) {
		r := new(scenario.Response)
		r.AddField([]byte(challengeField), []byte(asks), false)
		u := user{request: proto.Request{Method: "GET", Authority: "h", Path: "/x"}}
		if !u.challenge.take(r) {
			return
		}
		for count := 1; count < 3; count++ {
			u.request.Header = nil
			(&digester{"u", "p"}).sign(&u, time.Time{})
			if err := h1.Check(u.request); err != nil || u.challenge.count != count || len(asks) > longest {
				t.Errorf("%q: %v, %d", asks, err, u.challenge.count)
			}
		}
	})
}
