package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"dyno/internal/fleet/bus"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// An entry of the audit log is one line of JSON: what happened, when, to whom.
type entry struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // up token join revoke note refused connected gone server …
	Agent   string    `json:"agent,omitempty"`
	Token   string    `json:"token,omitempty"`
	From    string    `json:"from,omitempty"` // an address
	Subject string    `json:"subject,omitempty"`
	Detail  string    `json:"detail,omitempty"`
}

// An audit is the log that only grows.
type audit struct {
	log func(string)

	mu                sync.Mutex
	file              *os.File // nil when the hub is down
	second            int64    // in which strangers were noted, and how often
	writtenThisSecond int
	skipped           int // strangers since, of whom the log says only how many
}

// entriesPerSecondMax is how many lines a second whoever is not let in can add to the log.
const entriesPerSecondMax = 20

// writeLimited is write of what anybody can bring about.
func (a *audit) writeLimited(e entry) {
	a.mu.Lock()
	now := time.Now().Unix()
	if now != a.second {
		a.second, a.writtenThisSecond = now, 0
	}
	a.writtenThisSecond++
	if a.writtenThisSecond > entriesPerSecondMax {
		a.skipped++
		a.mu.Unlock()
		return
	}
	if a.skipped > 0 {
		e.Detail += fmt.Sprintf(" (and %d before that are not in the log)", a.skipped)
		a.skipped = 0
	}
	a.mu.Unlock()
	a.writeEntry(e)
}

func openAudit(folder string, log func(string)) (*audit, error) {
	f, err := os.OpenFile(filepath.Join(folder, "audit.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND,
		0o600)
	if err != nil {
		return nil, fmt.Errorf("the fleet's audit log: %w", err)
	}
	return &audit{log: log, file: f}, nil
}

// writeEntry adds e, and says it to whoever watches the hub.
func (a *audit) writeEntry(e entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return
	}
	e.Time = time.Now().UTC()
	b, err := json.Marshal(e)
	if err == nil {
		_, err = a.file.Write(append(b, '\n'))
	}
	if a.log == nil {
		return
	}
	if err != nil {
		a.log("the audit log cannot be written: " + err.Error())
	}
	a.log(e.String())
}

func (e entry) String() string {
	words := []string{e.Event}
	for _, w := range []string{e.Agent, e.Token, e.From, e.Subject, e.Detail} {
		if w != "" {
			words = append(words, bus.Printable(w))
		}
	}
	return strings.Join(words, " ")
}

func (a *audit) closeFile() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.file
	a.file = nil
	return f.Close()
}

// watchConnections has the server's own account say who comes and goes, and who is not let in.
// The log keeps it.
func (h *Hub) watchConnections() error {
	events := "$SYS.ACCOUNT." + h.keys.fleet.public
	for subject, event := range map[string]string{events + ".CONNECT": "connected",
		events + ".DISCONNECT": "gone", "$SYS.SERVER.*.CLIENT.AUTH.ERR": "refused"} {
		_, err := h.system.Subscribe(subject, func(m *nats.Msg) {
			var e server.DisconnectEventMsg // what an event of a connection has, and a reason
			if json.Unmarshal(m.Data, &e) != nil {
				return
			}
			if name := h.agentNameOf(e.Client.User); name != "" || event == "refused" {
				h.audit.writeLimited(entry{Event: event, Agent: name, From: e.Client.Host, Detail: e.Reason})
			}
		})
		if err != nil {
			return err
		}
	}
	return h.system.Flush()
}

// agentNameOf is the name of the agent with that public key, or "".
func (h *Hub) agentNameOf(key string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.state.Agents {
		if a.Key == key {
			return a.Name
		}
	}
	return ""
}

// A serverLog is what the server says that goes into the audit log: what it calls errors,
// among them every attempt to say what one may not.
type serverLog struct {
	audit *audit

	mu        sync.Mutex
	fatalText string
}

// Fatalf keeps why the server does not start.
func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fatalText = fmt.Sprintf(format, v...)
}

func (l *serverLog) fatalError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatalText == "" {
		return nil
	}
	return errors.New(l.fatalText)
}

// Errorf keeps what went wrong.
func (l *serverLog) Errorf(format string, v ...any) {
	l.audit.writeLimited(entry{Event: "server", Detail: fmt.Sprintf(format, v...)})
}

// Warnf is for what whoever configures a server should know, and here nobody does.
func (l *serverLog) Warnf(string, ...any) {}

// Noticef is for what the server does in the ordinary way, which nobody reads.
func (l *serverLog) Noticef(string, ...any) {}

// Debugf is switched off.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef is switched off.
func (l *serverLog) Tracef(string, ...any) {}
