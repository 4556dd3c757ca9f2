package auth

import (
	"net/http"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// A Sender says who sends single requests, one after the other, as a plan has it. The zero value
// says nothing.
type Sender struct {
	signer signer
	user   user
	asks   bool
}

// NewSender is the sender of a plan.
func NewSender(p *loadplan.Plan) (s Sender) {
	if p.Auth != "" {
		s.signer, s.asks = newSigner(p), p.Auth == loadplan.Digest
	}
	return s
}

// Signed is a request with who sends it now, unless it says so itself.
func (s *Sender) Signed(r proto.Request) proto.Request {
	if s.signer == nil || r.HasField("Authorization") {
		return r
	}
	r.Header = slices.Clone(r.Header)
	s.user.request = r
	s.signer.sign(&s.user, time.Now())
	return s.user.request
}

// Asked reports whether a response with these fields WWW-Authenticate asked who sent a request, so
// that this is to be signed and sent again, once.
func (s *Sender) Asked(r *proto.Request, status int, challenges []string) bool {
	return s.asks && status == http.StatusUnauthorized && !r.HasField("Authorization") &&
		s.user.challenge.take(challenges)
}
