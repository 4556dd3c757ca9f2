package hub

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"dyno/internal/fleet/bus"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

const (
	// identityLife is how long an agent can stay disconnected and still come back without a
	// token. A connected agent gets a new JWT long before.
	identityLife = 30 * 24 * time.Hour

	// LifeMax is the longest life of a join token: a forgotten token is a danger.
	LifeMax = 7 * 24 * time.Hour

	idLength = 8 // characters of a token's ID, which is not its secret

	hostWordMax      = 255 // bytes of a host name or version in a JoinRequest
	subscriptionsMax = 32  // of one agent, which needs five
)

// subscribeRequests subscribes to all requests.
func (h *Hub) subscribeRequests() error {
	for subject, f := range map[string]func(*nats.Msg) (any, error){
		bus.SubjectToken: h.issueToken, bus.SubjectRevoke: h.revokeName, bus.SubjectList: h.listRoster,
		bus.SubjectStop: h.requestStop, bus.SubjectNote: h.logNote,
		bus.JoinSubject("*"): h.admitApplicant, bus.RenewSubject("*"): h.renewAgent,
	} {
		if _, err := h.conn.Subscribe(subject, func(m *nats.Msg) { h.sendReply(m, f) }); err != nil {
			return err
		}
	}
	return h.conn.Flush()
}

// sendReply replies to m with what f returns.
func (h *Hub) sendReply(m *nats.Msg, f func(*nats.Msg) (any, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !repliesToSender(m) {
		h.audit.writeLimited(entry{Event: "refused", Subject: m.Subject,
			Detail: fmt.Sprintf("the answer was to go to %q", m.Reply)})
		return
	}
	var r bus.HubReply
	answer, err := f(m)
	if err == nil {
		r.Answer, err = json.Marshal(answer)
	}
	if err != nil {
		r = bus.HubReply{Refused: err.Error()}
		h.audit.writeLimited(entry{Event: "refused", Subject: m.Subject, Detail: r.Refused})
	}
	b, err := json.Marshal(r)
	if err == nil {
		err = m.Respond(b)
	}
	if err != nil {
		h.audit.writeEntry(entry{Event: "fault", Subject: m.Subject, Detail: err.Error()})
	}
}

// repliesToSender reports whether the reply to m goes to its sender. NATS does not check reply
// subjects, and the hub may publish anywhere: without this check, anybody could have it publish
// where they may not.
func repliesToSender(m *nats.Msg) bool {
	who := bus.ControllerName
	if strings.HasSuffix(m.Sub.Subject, ".*") {
		who = subjectSuffix(m)
	}
	return strings.HasPrefix(m.Reply, bus.InboxPrefix(who))
}

// decodeRequest decodes a request.
func decodeRequest(m *nats.Msg, v any) error {
	if err := json.Unmarshal(m.Data, v); err != nil {
		return fmt.Errorf("this cannot be read: %w", err)
	}
	return nil
}

// subjectSuffix returns the last word of m's subject. The sender's permissions vouch for it.
func subjectSuffix(m *nats.Msg) string { return m.Subject[strings.LastIndex(m.Subject, ".")+1:] }

// issueToken handles a TokenRequest.
func (h *Hub) issueToken(m *nats.Msg) (any, error) {
	var o bus.TokenRequest
	if err := decodeRequest(m, &o); err != nil {
		return nil, err
	}
	if o.Life <= 0 || o.Life > LifeMax {
		return nil, fmt.Errorf("a token lives up to %v, and not %v", LifeMax, o.Life)
	}
	return h.mintToken(o, time.Now())
}

// mintToken makes the token that o asks for.
func (h *Hub) mintToken(o bus.TokenRequest, now time.Time) (*bus.IssuedToken, error) {
	if o.Name != "" {
		if err := bus.CheckAgentName(o.Name); err != nil {
			return nil, err
		}
	}
	for _, cidr := range o.From {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			return nil, fmt.Errorf("%q is not a range of addresses like 10.1.0.0/16", cidr)
		}
	}
	applicant, err := generateKey(user)
	if err != nil {
		return nil, err
	}
	t := &token{ID: strings.ToLower(rand.Text()[:idLength]), Name: o.Name, From: o.From,
		Issued: now.UTC(), Expires: now.Add(o.Life).UTC().Truncate(time.Second)}
	claims := jwt.NewUserClaims(applicant.public)
	claims.Name, claims.Expires, claims.Src = t.ID, t.Expires.Unix(), jwt.CIDRList(o.From)
	claims.Permissions, claims.Subs = bus.JoinPermissions(t.ID), subscriptionsMax
	signed, err := claims.Encode(h.keys.fleet.pair)
	if err != nil {
		return nil, err
	}
	h.state.Tokens = append(h.state.Tokens, t)
	if err := h.state.saveState(now); err != nil {
		return nil, err
	}
	h.audit.writeEntry(entry{Event: "token", Token: t.ID, Agent: t.Name, Detail: "until " +
		t.Expires.Format(time.DateTime)})
	return &bus.IssuedToken{ID: t.ID, Token: h.accessFor(signed, applicant.seed).EncodeToken()}, nil
}

// admitApplicant handles a JoinRequest: it makes an agent of a machine that presents a usable
// token.
func (h *Hub) admitApplicant(m *nats.Msg) (any, error) {
	var a bus.JoinRequest
	if err := decodeRequest(m, &a); err != nil {
		return nil, err
	}
	if len(a.Host) > hostWordMax || len(a.Version) > hostWordMax {
		return nil, fmt.Errorf("a host or a version of more than %d characters", hostWordMax)
	}
	now := time.Now()
	t := h.state.findToken(subjectSuffix(m))
	if err := t.checkUsable(now); err != nil {
		return nil, err
	}
	if !nkeys.IsValidPublicUserKey(a.Key) || h.state.knowsKey(a.Key) {
		return nil, errors.New("an agent's key is a NATS user's, made anew for each token")
	}
	name, err := h.chooseName(t, a)
	if err != nil {
		return nil, err
	}
	t.Key, t.Used, t.Agent = a.Key, now.UTC(), name
	h.state.enrollAgent(&agent{Name: name, Key: a.Key, From: t.From, Joined: now.UTC(),
		Seen:    now.UTC(),
		Version: a.Version})
	if err := h.state.saveState(now); err != nil {
		return nil, err
	}
	if err := h.publishAccounts(); err != nil {
		return nil, err
	}
	h.audit.writeEntry(entry{Event: "join", Agent: name, Token: t.ID, Detail: "host " + a.Host})
	return h.newAdmission(h.state.findAgent(name))
}

// checkUsable fails unless a machine may become an agent by t.
func (t *token) checkUsable(now time.Time) error {
	switch {
	case t == nil:
		return errors.New("the hub does not know this token")
	case !t.Revoked.IsZero():
		return fmt.Errorf("the token was revoked at %s", formatTime(t.Revoked))
	case t.Key != "":
		return fmt.Errorf("the token was used at %s, by the agent %s; it is good for one only",
			formatTime(t.Used), t.Agent)
	case !now.Before(t.Expires):
		return fmt.Errorf("the token expired at %s", formatTime(t.Expires))
	}
	return nil
}

// formatTime formats a time for people.
func formatTime(t time.Time) string { return t.UTC().Format(time.DateTime + " MST") }

// chooseName returns the name of a new agent: the token's, the requested one, or the host's.
func (h *Hub) chooseName(t *token, a bus.JoinRequest) (string, error) {
	name := t.Name
	switch {
	case name != "" && a.Name != "" && a.Name != name:
		return "", fmt.Errorf("the token is for an agent named %s, not %s", name, a.Name)
	case name == "" && a.Name != "":
		name = a.Name
	case name == "":
		name = bus.AgentNameFor(a.Host)
	}
	if err := bus.CheckAgentName(name); err != nil {
		return "", err
	}
	old := h.state.findAgent(name)
	if old == nil || !old.Revoked.IsZero() {
		return name, nil
	}
	if on, err := h.connectionsOf(old.Key); err != nil || len(on) > 0 {
		return "", errors.Join(fmt.Errorf("an agent named %s is connected; choose another --name", name),
			err)
	}
	return name, nil
}

// newAdmission issues a JWT for an agent.
func (h *Hub) newAdmission(a *agent) (*bus.Admission, error) {
	claims := jwt.NewUserClaims(a.Key)
	claims.Name, claims.Src = a.Name, jwt.CIDRList(a.From)
	claims.Expires = time.Now().Add(identityLife).Unix()
	claims.Permissions, claims.Subs = bus.AgentPermissions(a.Name), subscriptionsMax
	signed, err := claims.Encode(h.keys.fleet.pair)
	if err != nil {
		return nil, err
	}
	return &bus.Admission{Name: a.Name, JWT: signed, PlanKey: h.planKey.Public}, nil
}

// renewAgent gives an agent a new JWT, unless two agents are connected under its name.
func (h *Hub) renewAgent(m *nats.Msg) (any, error) {
	a := h.state.findAgent(subjectSuffix(m))
	if a == nil || !a.Revoked.IsZero() {
		return nil, errors.New("the hub does not know this agent")
	}
	on, err := h.connectionsOf(a.Key)
	if err != nil {
		return nil, err
	}
	if len(on) > 1 {
		return nil, fmt.Errorf("%s is connected already, from %s", a.Name, on[0].IP)
	}
	now := time.Now()
	a.Seen = now.UTC()
	if err := h.state.saveState(now); err != nil {
		return nil, err
	}
	return h.newAdmission(a)
}

// connectionsOf returns the connections of the user with that public key, oldest first.
func (h *Hub) connectionsOf(key string) ([]*server.ConnInfo, error) {
	c, err := h.server.Connz(&server.ConnzOptions{Username: true, User: key, Limit: 16})
	if err != nil {
		return nil, err
	}
	return c.Conns, nil
}

// revokeName revokes an agent, which is disconnected, or a token.
func (h *Hub) revokeName(m *nats.Msg) (any, error) {
	var q bus.RevokeRequest
	if err := decodeRequest(m, &q); err != nil {
		return nil, err
	}
	now := time.Now()
	a, t := h.state.findAgent(q.Name), h.state.findToken(q.Name)
	switch {
	case a != nil && a.Revoked.IsZero():
		a.Revoked = now.UTC()
		h.state.Revoked[a.Key] = a.Revoked
	case t != nil && t.Key != "":
		return nil, fmt.Errorf("the token was used; revoke the agent, which is %s", t.Agent)
	case t != nil:
		t.Revoked = now.UTC()
	case a != nil:
		return nil, fmt.Errorf("%s was revoked at %s", a.Name, formatTime(a.Revoked))
	default:
		return nil, fmt.Errorf("there is no agent and no token %q; see dyno fleet ls", q.Name)
	}
	h.audit.writeEntry(entry{Event: "revoke", Detail: q.Name})
	return struct{}{}, errors.Join(h.publishAccounts(),
		h.state.saveState(now)) // revoked even if the state cannot be saved
}

// listRoster returns the agents and the usable tokens.
func (h *Hub) listRoster(*nats.Msg) (any, error) {
	roll := bus.Roster{}
	agents := slices.SortedFunc(slices.Values(h.state.Agents), func(a, b *agent) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, a := range agents {
		e := bus.EnrolledAgent{Name: a.Name, Joined: a.Joined, Seen: a.Seen, Version: a.Version,
			Revoked: a.Revoked}
		on, err := h.connectionsOf(a.Key)
		if err != nil {
			return nil, err
		}
		if len(on) > 0 {
			e.Address, e.Connected = on[0].IP, on[0].Start
		}
		roll.Agents = append(roll.Agents, e)
	}
	now := time.Now()
	for _, t := range h.state.Tokens {
		if t.checkUsable(now) == nil {
			roll.Tokens = append(roll.Tokens, bus.PendingToken{ID: t.ID, Name: t.Name, Expires: t.Expires})
		}
	}
	return roll, nil
}

// noteMax is how many bytes of a note are logged.
const noteMax = 1 << 10

// logNote logs what a controller does.
func (h *Hub) logNote(m *nats.Msg) (any, error) {
	var q bus.AuditNote
	if err := decodeRequest(m, &q); err != nil {
		return nil, err
	}
	h.audit.writeEntry(entry{Event: "note", Detail: q.Text[:min(len(q.Text), noteMax)]})
	return struct{}{}, nil
}

// requestStop makes Serve return after the reply.
func (h *Hub) requestStop(*nats.Msg) (any, error) {
	select {
	case h.stop <- struct{}{}:
	default: // it was asked already
	}
	return struct{}{}, nil
}

// publishAccounts updates the server's accounts: their rights, and who is revoked. The server
// disconnects revoked users.
func (h *Hub) publishAccounts() error {
	own := jwt.NewAccountClaims(h.keys.system.public)
	own.Name = "server"
	fleet := jwt.NewAccountClaims(h.keys.fleet.public)
	fleet.Name = "fleet"
	for key, since := range h.state.Revoked {
		fleet.RevokeAt(key, since.Add(identityLife)) // also JWTs issued by a clock that was ahead
	}
	for _, c := range []*jwt.AccountClaims{own, fleet} {
		signed, err := c.Encode(h.keys.operator.pair)
		if err != nil {
			return err
		}
		if err := h.resolver.Store(c.Subject, signed); err != nil {
			return err
		}
	}
	if h.server == nil {
		return nil
	}
	account, err := h.server.LookupAccount(h.keys.fleet.public)
	if err != nil {
		return err
	}
	h.server.UpdateAccountClaims(account, fleet)
	return nil
}
