package cli

import (
	"context"
	"os"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/view/format"
	"dyno/internal/view/screen"

	tea "charm.land/bubbletea/v2"
)

// A fullScreen shows a run on the whole terminal, and reads its keys. It has goroutines of its own
// and draws at most framesASecond times a second, so it does not disturb the load.
type fullScreen struct {
	program *tea.Program
	ended   chan struct{}
	err     error // why it ended early
}

// framesASecond is how often a screen is drawn at most.
const framesASecond = 4

// startScreen shows a run of the plan on stderr's terminal. The user can end the run by stop.
func startScreen(s streams, p loadplan.Plan, stop func()) *fullScreen {
	style := s.reportStyle()
	style.Color = "" // that is stdout's
	if wantsColor() {
		style.Color = format.NewPaint()
	}
	m := &picture{screen: screen.New(p), style: style, began: time.Now(), stop: stop}
	options := []tea.ProgramOption{tea.WithOutput(pastOutlet(s.err)), tea.WithFPS(framesASecond),
		tea.WithoutSignalHandler(), tea.WithInput(nil)}
	if isTerminal(s.in) {
		options[len(options)-1] = tea.WithInput(s.in)
	}
	v := &fullScreen{program: tea.NewProgram(m, options...), ended: make(chan struct{})}
	go func() {
		defer close(v.ended)
		_, v.err = v.program.Run()
	}()
	return v
}

// showInterval shows an interval.
func (v *fullScreen) showInterval(iv loadresult.Interval) { v.program.Send(iv) }

// endDisplay restores the terminal.
func (v *fullScreen) endDisplay() error {
	v.program.Quit()
	<-v.ended
	return v.err
}

// A picture is the state of a screen, for the library.
type picture struct {
	screen        *screen.Screen
	style         format.Style
	began         time.Time
	width, height int
	stop          func()
}

// A tick is the message to redraw what depends on the clock.
type tick struct{}

func nextTick() tea.Cmd {
	return tea.Tick(time.Second/framesASecond, func(time.Time) tea.Msg { return tick{} })
}

// Init starts the ticks.
func (p *picture) Init() tea.Cmd { return nextTick() }

// Update processes a message.
func (p *picture) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	switch m := m.(type) {
	case tick:
		return p, nextTick()
	case loadresult.Interval:
		p.screen.Add(m, time.Since(p.began))
	case tea.WindowSizeMsg:
		p.width, p.height = m.Width, m.Height
	case tea.KeyPressMsg:
		switch m.String() {
		case "q", "ctrl+c":
			p.screen.Stop()
			p.stop()
		}
	}
	return p, nil
}

// View draws the screen.
func (p *picture) View() tea.View {
	drawn := p.screen.Draw(time.Since(p.began), p.width, p.height, p.style)
	view := tea.NewView(string(format.Visible([]byte(drawn), p.style.Color)))
	view.AltScreen = true
	return view
}

// drawableFaults reports why no screen can be drawn, for example on a file.
func (s streams) drawableFaults(f *runFlags) []error {
	if !f.tui || isTerminal(s.err) && os.Getenv("TERM") != "dumb" {
		return nil
	}
	return []error{loadplan.Flaw{Setting: "--tui",
		Problem: "draws on the terminal, and stderr is none " +
			"that can be drawn on; leave it out, or use -v for a line a second"}}
}

// A display shows a run in progress.
type display interface {
	showInterval(loadresult.Interval)
	endDisplay() error
}

// newDisplay begins to show a run of f's plan. The user can end it by stop.
func (s streams) newDisplay(f *runFlags, stop context.CancelFunc) display {
	if f.tui {
		return startScreen(s, f.plan, stop)
	}
	return newProgress(s, f)
}
