package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fleet/bus"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/format"
)

// busFlags name the bus of a fleet: that of this machine's dyno fleet up, or another.
type busFlags struct{ bus.External }

func (f *busFlags) options() []option {
	return pickOptions(tableGroups(setting.Run, nil, f.readers()), "nats", "creds", "nats-ca")
}

func (f *busFlags) readers() readers {
	return readers{"nats": setText(&f.URL), "creds": setText(&f.Creds), "nats-ca": setText(&f.CACert)}
}

func (f *busFlags) faults() (all []error) {
	if f.URL != "" {
		return f.Check()
	}
	for flag, value := range map[string]string{"--creds": f.Creds, "--nats-ca": f.CACert} {
		if value != "" {
			all = append(all, fmt.Errorf("%s: only says something of the server of --nats", flag))
		}
	}
	return all
}

// openBus connects to the bus as the controller.
func (f *busFlags) openBus() (*bus.Link, error) {
	if f.URL != "" {
		return f.External.Connect(bus.Settings{Name: bus.ControllerName})
	}
	folder, err := fleetFolder()
	if err != nil {
		return nil, err
	}
	c, err := bus.ReadController(folder)
	if err != nil {
		return nil, err
	}
	return c.Connect()
}

// fleetFolder is the folder of the fleet that this machine's hub runs.
func fleetFolder() (string, error) {
	home, err := dynohome.Dir()
	return filepath.Join(home, "fleet"), err
}

// auditedRunner is run with an entry in the hub's audit log: who began which load. Another bus has
// no audit log.
func auditedRunner(l *bus.Link, run result.Runner) result.Runner {
	return func(ctx context.Context, p loadplan.Plan,
		each func(loadresult.Interval)) (*result.Result, error) {
		who := "somebody"
		if u, err := user.Current(); err == nil {
			who = u.Username
		}
		err := bus.QueryHub(l.Conn, bus.SubjectNote, bus.AuditNote{Text: who + " loads " +
			loadedTarget(p)}, nil)
		if err != nil && !errors.Is(err, bus.ErrUnreachable) {
			return nil, err
		}
		return run(ctx, p, each)
	}
}

// loadedTarget describes the target of a plan, and its load.
func loadedTarget(p loadplan.Plan) string {
	at := fmt.Sprintf("%s port %d", p.Target.Host, p.Target.Port)
	if p.Target.Unix != "" {
		at = p.Target.Unix
	}
	s := at + ": " + format.Plural(int64(p.Connections), "connection")
	if p.Open() {
		s += fmt.Sprintf(", up to %v/s", p.Peak())
	}
	return s
}

// busExitCode is the exit code for an error of a bus.
func busExitCode(err error) int {
	switch {
	case errors.Is(err, bus.ErrRefused) || errors.Is(err, bus.ErrFile):
		return exitUsage
	case errors.Is(err, bus.ErrUnreachable):
		return exitUnreachable
	}
	return exitFault
}

// tokenMax is how much of a file is read to find a token, in bytes.
const tokenMax = 64 << 10

// readToken reads a join token: the value itself, the contents of @FILE, or stdin for -.
func (s streams) readToken(value string) (bus.Access, error) {
	r := s.in
	if file, is := strings.CutPrefix(value, "@"); is {
		f, err := os.Open(file)
		if err != nil {
			return bus.Access{}, err
		}
		defer f.Close()
		r = f
	} else if value != "-" {
		a, err := bus.ParseToken(value)
		if _, no := os.Stat(value); err != nil && no == nil {
			err = fmt.Errorf("%q is a file; to read the token from it write @%s", value, value)
		}
		return a, err
	}
	b, err := io.ReadAll(io.LimitReader(r, tokenMax))
	if err != nil {
		return bus.Access{}, err
	}
	return bus.ParseToken(string(b))
}
