package hub

import (
	"errors"
	"testing"
	"time"

	"dyno/internal/fleet/bus"
	"dyno/internal/fleet/bus/bustest"
)

// An agent that takes nothing any more, and whose line does not end, holds up neither what others say
// and hear nor the end of the hub.
func TestBlockedAgent(t *testing.T) {
	folder := t.TempDir()
	h := up(t, folder, "")
	l := desk(t, folder)
	token, _ := order(t, l, bus.TokenRequest{})
	i, err := bus.Join(token, bus.JoinRequest{Name: "web1", Host: "h", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	v := bustest.NewValve(t, i.Addresses[0])
	i.Addresses = []string{v.Addr().String()}
	blocked := connected(t, i)
	if _, err := blocked.SubscribeSync("dyno.cmd.web1.>"); err != nil {
		t.Fatal(err)
	}
	_, other := joined(t, l, "web2")
	told, err := other.SubscribeSync("dyno.cmd.web2.>")
	heard, more := l.SubscribeSync("dyno.ev.web2.>")
	if err := errors.Join(err, more, blocked.Flush(), other.Flush(), l.Flush()); err != nil {
		t.Fatal(err)
	}
	v.Shut()
	for range 64 { // far more than the line holds
		err := errors.Join(l.Publish("dyno.cmd.web1.plan", make([]byte, 512<<10)), l.Publish("dyno.cmd.web2.beat", nil),
			other.Publish("dyno.ev.web2.beat", nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := told.NextMsg(soon); err != nil {
			t.Fatalf("another agent does not hear: %v", err)
		}
		if _, err := heard.NextMsg(soon); err != nil {
			t.Fatalf("another agent is not heard: %v", err)
		}
	}
	var roll bus.Roster
	if err := bus.QueryHub(l.Conn, bus.SubjectList, struct{}{}, &roll); err != nil {
		t.Errorf("the hub does not answer: %v", err)
	}
	if err := bus.QueryHub(l.Conn, bus.SubjectRevoke, bus.RevokeRequest{Name: "web1"}, nil); err != nil {
		t.Errorf("the hub does not throw it out: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Close() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(soon):
		t.Fatal("the hub does not end")
	}
}

// A sender whose connection takes nothing more fails within Lease. Until it fails, an agent cannot
// notice that it hears nothing of its controller.
func TestBlockedSpeakerNotices(t *testing.T) {
	folder := t.TempDir()
	up(t, folder, "")
	l := desk(t, folder)
	_, agent := joined(t, l, "web1")
	for _, link := range []*bus.Link{l, agent} {
		if most := link.Opts.FlusherTimeout; most <= 0 || most > 5*time.Second {
			t.Errorf("%s waits for %v", link.Opts.Name, most)
		}
	}
}
