package auth

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// signers have the signers of requests. They are kept, because AWS has a key of each day, region
// and service, which is derived from the secret.
type signers struct {
	plan *loadplan.Plan
	kept map[sender]signer
}

// A sender is how a request says who sends it, and who that is, USER:PASSWORD.
type sender struct{ how, who string }

// mostKept is how many signers are kept: a worker with more users begins anew.
const mostKept = 1024

// of is the signer of a request; nil: its fields say who sends it, or nothing does. USER:PASSWORD
// of a request with an Auth is taken out of its header, which is changed.
func (s *signers) of(r *proto.Request) signer {
	own := slices.IndexFunc(r.Header, func(f proto.Field) bool {
		return strings.EqualFold(f.Name, "Authorization")
	})
	how, who := s.plan.Auth, s.plan.User
	if r.Auth != "" {
		how = r.Auth
	}
	switch {
	case own >= 0 && r.Auth == "":
		return nil
	case own >= 0:
		who = r.Header[own].Value
		r.Header = slices.Delete(r.Header, own, own+1)
	}
	if how == "" || who == "" {
		return nil
	}
	of := sender{how, who}
	kept := s.kept[of]
	if kept == nil {
		if len(s.kept)%mostKept == 0 {
			s.kept = map[sender]signer{}
		}
		kept = s.made(of)
		s.kept[of] = kept
	}
	return kept
}

// made is a new signer.
func (s *signers) made(of sender) signer {
	user, password, _ := strings.Cut(of.who, ":")
	if region, service, is := loadplan.SigV4(of.how); is {
		return newSigV4(user, password, region, service, s.plan.ChunkSize > 0)
	}
	return &digester{user: user, password: password}
}

// A Sender says who sends single requests, one after the other, as a plan has it.
type Sender struct {
	signers signers
	user    user
}

// NewSender is the sender of a plan.
func NewSender(p *loadplan.Plan) Sender { return Sender{signers: signers{plan: p}} }

// Signed is a request with who sends it now, unless it says so itself.
func (s *Sender) Signed(r proto.Request) proto.Request {
	r.Header = slices.Clone(r.Header)
	signer := s.signers.of(&r)
	s.user.request = r
	if _, s.user.digest = signer.(*digester); signer != nil {
		signer.sign(&s.user, time.Now())
	}
	return s.user.request
}

// Asked reports whether a response with these fields WWW-Authenticate asked who sent the last
// request, so that this is to be signed and sent again, once.
func (s *Sender) Asked(status int, challenges []string) bool {
	return s.user.digest && status == http.StatusUnauthorized && s.user.challenge.take(challenges)
}
