package h3

import (
	"crypto/tls"
	"sync"
)

// sessions keeps the last TLS session of the one server, for all connections of a ring. Each
// handshake gets its own copy: quic-go writes into it, and several may go on at once.
type sessions struct {
	mu   sync.Mutex
	last *tls.ClientSessionState // nil: none
}

// Get returns a copy of the session.
func (s *sessions) Get(string) (*tls.ClientSessionState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return nil, false
	}
	ticket, state, err := s.last.ResumptionState()
	if err != nil || state == nil {
		return nil, false
	}
	own := *state
	session, err := tls.NewResumptionState(ticket, &own)
	return session, err == nil
}

// Put replaces the session.
func (s *sessions) Put(_ string, session *tls.ClientSessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = session
}
