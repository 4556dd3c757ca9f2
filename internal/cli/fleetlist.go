package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"dyno/internal/fleet"
	"dyno/internal/fleet/bus"
)

// answerTime is how long agents have to say that they are there.
const answerTime = time.Second

// listFlags is the command line of dyno fleet ls.
type listFlags struct {
	helpFlag
	busFlags
}

func (f *listFlags) groups() []group {
	return []group{{"Flags", append(f.options(), option{"help", "h", "", "this", setSwitch(&f.help)})}}
}

// fleetList is dyno fleet ls.
func fleetList(s streams, args []string) int {
	var f listFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("fleet ls")
	}
	if faults := slices.Concat(p.faults, p.extraWords(0), f.faults()); len(faults) > 0 {
		return s.refuseFlags("fleet ls", faults)
	}
	l, err := f.openBus()
	if err != nil {
		return s.failWith(busExitCode(err), err)
	}
	defer l.Close()
	var roll bus.Roster
	if f.URL == "" {
		if err := bus.QueryHub(l.Conn, bus.SubjectList, struct{}{}, &roll); err != nil {
			return s.failWith(busExitCode(err), err)
		}
	}
	var connected []string
	for _, a := range roll.Agents {
		if a.Address != "" {
			connected = append(connected, a.Name)
		}
	}
	var there []fleet.FoundAgent
	if f.URL != "" || len(connected) > 0 {
		ctx, stop := untilInterrupted()
		defer stop()
		if there, err = fleet.Discover(ctx, l.Conn, connected, answerTime); err != nil {
			return s.failWith(busExitCode(err), err)
		}
	}
	return s.writeExitCode(writeRoll(s.out, roll, there))
}

// writeRoll writes who belongs to the fleet and who of them has answered.
func writeRoll(w io.Writer, roll bus.Roster, there []fleet.FoundAgent) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }
	line("AGENT\tSTATE\tWEIGHT\tADDRESS\tHOST\tDYNO\tPOLICY")
	for _, a := range roll.Agents {
		i := slices.IndexFunc(there, func(h fleet.FoundAgent) bool { return h.Name == a.Name })
		switch {
		case i >= 0:
			writeAnswerer(t, there[i], a.Address)
			there = slices.Delete(there, i, i+1)
		case !a.Revoked.IsZero():
			line("%s\trevoked %s\t\t\t\t%s\t", a.Name, toTheMinute(a.Revoked), bus.Printable(a.Version))
		case a.Address != "":
			line("%s\tdoes not answer\t\t%s\t\t%s\t", a.Name, a.Address, bus.Printable(a.Version))
		default:
			line("%s\taway, seen %s\t\t\t\t%s\t", a.Name, toTheMinute(a.Seen), bus.Printable(a.Version))
		}
	}
	for _, h := range there {
		writeAnswerer(t, h, "")
	}
	if len(roll.Tokens) > 0 {
		line("\nTOKEN\tFOR\tUNTIL")
	}
	for _, p := range roll.Tokens {
		name := p.Name
		if name == "" {
			name = "any machine"
		}
		line("%s\t%s\t%s", p.ID, name, toTheMinute(p.Expires))
	}
	return t.Flush()
}

// toTheMinute is an instant in a list.
func toTheMinute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// writeAnswerer writes the line of an agent that is there.
func writeAnswerer(w io.Writer, h fleet.FoundAgent, address string) {
	state, weight := "ready", strconv.Itoa(h.Weight)
	switch {
	case h.Reporting:
		state = "busy, reports"
	case h.Busy != "":
		state = "busy"
	case h.Watches:
		state, weight = "watches", ""
	}
	host := fmt.Sprintf("%s/%s, %d CPUs", h.Host.OS, h.Host.Arch, h.Host.CPUs)
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", h.Name, state, weight, address,
		bus.Printable(host), bus.Printable(h.Version), bus.Printable(h.Policy))
}
