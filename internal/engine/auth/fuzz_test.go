package auth

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

// Whatever a server asks, the answer is a field that can be sent, or there is none; what is asked is bounded;
// and challenges of other schemes around it change nothing.
func FuzzChallenge(f *testing.F) {
	f.Add(`Digest realm="r", nonce="n", qop="auth"`)
	f.Add(`Digest realm=, nonce="\"", algorithm=SHA-512-256, userhash=true`)
	f.Add("Digest \x00realm=\"\xff\x01\", nonce=\"a\tb\"")
	f.Add(`digest nonce="` + strings.Repeat("n", 5000) + `"`)
	f.Add(`Basic realm="a, b", Digest nonce=1,,qop = "auth-int, auth" , Negotiate a==, Digest nonce="2", algorithm=SHA-256`)
	f.Fuzz(func(t *testing.T, asks string) {
		var u, amid user
		is := u.challenge.take([]string{asks})
		if around := `Basic realm="Digest nonce=\"0\"", ` + asks; len(around) <= longest {
			if amid.challenge.take([]string{"NTLM", around}) != is || !reflect.DeepEqual(amid.challenge, u.challenge) {
				t.Errorf("%q: %+v, behind Basic %+v", asks, u.challenge.asks, amid.challenge.asks)
			}
		}
		if !is {
			return
		}
		u.request = proto.Request{Method: "GET", Authority: "h", Path: "/x"}
		for count := 1; count < 3; count++ {
			u.request.Header = nil
			(&digester{"u", "p"}).sign(&u, time.Time{})
			if err := h1.Check(u.request); err != nil || u.challenge.count != count || len(asks) > longest {
				t.Errorf("%q: %v, %d", asks, err, u.challenge.count)
			}
		}
	})
}
