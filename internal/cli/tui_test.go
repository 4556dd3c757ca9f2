package cli

import (
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/view/screen"

	tea "charm.land/bubbletea/v2"
)

// What the library tells the picture is what it shows: its size, an interval, a key.
func TestPicture(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1:1/"}
	stopped := 0
	m := &picture{screen: screen.New(p), began: time.Now(), stop: func() { stopped++ }}
	if m.Init() == nil {
		t.Error("nothing ticks")
	}
	tell := func(msg tea.Msg) string {
		t.Helper()
		next, _ := m.Update(msg)
		if next != tea.Model(m) {
			t.Errorf("%T makes another picture", msg)
		}
		view := m.View()
		if !view.AltScreen {
			t.Error("it is drawn over what there was")
		}
		return view.Content
	}
	if got := tell(tick{}); got != "" {
		t.Errorf("without a size: %q", got)
	}
	if got := tell(tea.WindowSizeMsg{Width: 80, Height: 24}); !strings.Contains(got, "starting") {
		t.Error(got)
	}
	second := loadresult.Interval{To: time.Second, Completed: 1234, Status: map[uint16]int64{200: 1234}}
	if got := tell(second); !strings.Contains(got, "1,234") || strings.Contains(got, "starting") {
		t.Error(got)
	}
	if got := tell(tea.WindowSizeMsg{Width: 20, Height: 3}); strings.Count(got, "\n") != 2 {
		t.Error(got)
	}
	tell(tea.KeyPressMsg{Code: 'x', Text: "x"})
	if stopped > 0 {
		t.Error("any key stops it")
	}
	for _, key := range []tea.KeyPressMsg{{Code: 'q', Text: "q"}, {Code: 'c', Mod: tea.ModCtrl}} {
		before := stopped
		if got := tell(key); !strings.Contains(got, "stopping") || stopped != before+1 {
			t.Errorf("%s: %s", key, got)
		}
	}
}
