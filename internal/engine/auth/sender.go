package auth

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// signers have the signer of each request: the same as of the one before, as a rule.
type signers struct {
	plan     *loadplan.Plan
	last     signer
	how, who string // of last
}

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
	if s.last == nil || s.how != how || s.who != who {
		s.how, s.who = how, who
		user, password, _ := strings.Cut(who, ":")
		if region, service, is := loadplan.SigV4(how); is {
			s.last = newSigV4(user, password, region, service, s.plan.ChunkSize > 0)
		} else {
			s.last = &digester{user: user, password: password}
		}
	}
	return s.last
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
	if _, s.user.answers = signer.(*digester); signer != nil {
		signer.sign(&s.user, time.Now())
	}
	return s.user.request
}

// Asked reports whether a response with these fields WWW-Authenticate asked who sent the last
// request, so that this is to be signed and sent again, once.
func (s *Sender) Asked(status int, challenges []string) bool {
	return s.user.answers && status == http.StatusUnauthorized && s.user.challenge.take(challenges)
}
