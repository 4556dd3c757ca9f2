package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"dyno/internal/fleet/bus"
)

// A state is what a hub knows of tokens and agents. It is written to its file before anybody gets
// a reply that depends on it.
type state struct {
	path    string
	Format  string               `json:"format"`
	Tokens  []*token             `json:"tokens"`
	Agents  []*agent             `json:"agents"`
	Revoked map[string]time.Time `json:"revoked"` // when they were revoked, by users' public keys
}

const stateFormat = "dyno.fleet/1"

// A token is a join token that was issued. Its secret is not kept.
type token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"` // of the agent that it is for; "": any
	From    []string  `json:"from,omitempty"`
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"`
	Key     string    `json:"key,omitempty"` // of the agent that has used it; "": it was not used
	Used    time.Time `json:"used,omitzero"`
	Agent   string    `json:"agent,omitempty"` // its name
	Revoked time.Time `json:"revoked,omitzero"`
}

// An agent is a machine that has joined.
type agent struct {
	Name    string    `json:"name"`
	Key     string    `json:"key"`
	From    []string  `json:"from,omitempty"`
	Joined  time.Time `json:"joined"`
	Seen    time.Time `json:"seen"` // when it last got a JWT
	Version string    `json:"version"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// tokenMemory is how long a token is remembered after it has expired, to explain what became of
// it.
const tokenMemory = 30 * 24 * time.Hour

func openState(folder string) (*state, error) {
	s := &state{Format: stateFormat, Revoked: map[string]time.Time{}}
	path := filepath.Join(folder, "state.json")
	err := bus.ReadJSON(path, s)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("what the fleet knows of its agents: %w", err)
	}
	if s.Format != stateFormat {
		return nil, fmt.Errorf("%s has the format %q, and this dyno reads %q", path, s.Format,
			stateFormat)
	}
	s.path = path
	return s, nil
}

// VerifyAgent fails unless signature is of text by the agent of that name, with the key by which
// it joined the fleet of folder. It reads the hub's file, and nothing that comes over the bus.
func VerifyAgent(folder, name string, text, signature []byte) error {
	s, err := openState(folder)
	if err != nil {
		return err
	}
	a := s.findAgent(name)
	if a == nil || !a.Revoked.IsZero() {
		return errors.New("no agent of that name has joined this fleet")
	}
	if err := bus.VerifyAgentText(a.Key, text, signature); err != nil {
		return fmt.Errorf("what it says is not signed with the key that %s has joined with: %w", name,
			err)
	}
	return nil
}

// saveState writes s, without entries that are too old to matter.
func (s *state) saveState(now time.Time) error {
	s.Tokens = slices.DeleteFunc(s.Tokens, func(t *token) bool {
		return now.After(t.Expires.Add(tokenMemory))
	})
	s.Agents = slices.DeleteFunc(s.Agents, func(a *agent) bool {
		return now.After(a.Seen.Add(identityLife)) // it cannot come back
	})
	for key, since := range s.Revoked {
		if now.After(since.Add(identityLife)) { // what it could be used with has expired
			delete(s.Revoked, key)
		}
	}
	if err := bus.WriteJSON(s.path, s); err != nil {
		return fmt.Errorf("the hub cannot keep what it knows: %w", err)
	}
	return nil
}

func (s *state) findToken(id string) *token {
	i := slices.IndexFunc(s.Tokens, func(t *token) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return s.Tokens[i]
}

// findAgent returns the agent of that name, even if it was revoked, or nil.
func (s *state) findAgent(name string) *agent {
	i := slices.IndexFunc(s.Agents, func(a *agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return s.Agents[i]
}

// enrollAgent adds a. An earlier agent of its name is revoked.
func (s *state) enrollAgent(a *agent) {
	old := s.findAgent(a.Name)
	if old == nil {
		s.Agents = append(s.Agents, a)
		return
	}
	s.Revoked[old.Key] = a.Joined
	*old = *a
}

// knowsKey reports whether that key is or was an agent's.
func (s *state) knowsKey(key string) bool {
	_, gone := s.Revoked[key]
	return gone || slices.ContainsFunc(s.Agents, func(a *agent) bool { return a.Key == key })
}
