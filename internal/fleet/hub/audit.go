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

// An entry is a line of the audit log, in JSON: what happened, when, and to whom.
type entry struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // up token join revoke note refused connected gone server …
	Agent   string    `json:"agent,omitempty"`
	Token   string    `json:"token,omitempty"`
	From    string    `json:"from,omitempty"` // an address
	Subject string    `json:"subject,omitempty"`
	Detail  string    `json:"detail,omitempty"`
}

// An audit is the audit log. It is only appended to.
type audit struct {
	log func(string)

	mu                sync.Mutex
	file              *os.File // nil once the hub is closed
	second            int64    // Unix time in which writtenThisSecond entries were written
	writtenThisSecond int
	skipped           int // entries left out since; the next entry says how many
}

// entriesPerSecondMax limits what others can add to the log.
const entriesPerSecondMax = 20

// writeLimited is writeEntry of an event that anybody can cause, at a limited rate.
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

// writeEntry appends e, and passes it to Config.Log.
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

// watchConnections logs who connects, disconnects and is refused, as the server's own account
// reports it.
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

// agentNameOf returns the name of the agent with that public key, or "".
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

// A serverLog writes what the server calls errors into the audit log. Every violation of a
// permission is among them.
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

// Errorf logs an error.
func (l *serverLog) Errorf(format string, v ...any) {
	l.audit.writeLimited(entry{Event: "server", Detail: fmt.Sprintf(format, v...)})
}

// Warnf drops warnings: they are about the configuration, which is dyno's.
func (l *serverLog) Warnf(string, ...any) {}

// Noticef drops notices: they are about what the server does as usual.
func (l *serverLog) Noticef(string, ...any) {}

// Debugf is never called: debugging is off.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef is never called: tracing is off.
func (l *serverLog) Tracef(string, ...any) {}
