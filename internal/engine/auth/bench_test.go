package auth

import (
	"testing"
	"time"

	"github.com/icholy/digest"

	"dyno/internal/engine/proto"
)

// BenchmarkSign is what it takes to say who sends a request with a body of 100 bytes.
func BenchmarkSign(b *testing.B) {
	asks := &digest.Challenge{Realm: "r", Nonce: "n", Algorithm: "MD5", QOP: []string{"auth"}}
	for name, s := range map[string]signer{"sigv4": newSigV4("key", "secret", "eu-west-1", "s3", false),
		"digest": &digester{"user", "password"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			u := user{challenge: challenge{asks: asks}}
			for b.Loop() {
				u.request = proto.Request{Method: "POST", Authority: "h", Path: "/a?b=c", Body: make([]byte, 100)}
				s.sign(&u, time.Unix(1_700_000_000, 0))
			}
			if len(u.request.Header) == 0 {
				b.Error("nothing is signed")
			}
		})
	}
}
