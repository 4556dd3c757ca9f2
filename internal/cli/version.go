package cli

import (
	"fmt"
	"runtime"

	"dyno/internal/engine/loadplan"
	"dyno/internal/notices"
)

// versionFlags is the command line of dyno version.
type versionFlags struct {
	helpFlag
	licences bool
}

func (f *versionFlags) groups() []group {
	return []group{{"Flags", []option{
		{"licences", "", "", "print the licences of all that is in this binary", setSwitch(&f.licences)},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

// printVersion is dyno version.
func printVersion(s streams, args []string) int {
	var f versionFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("version")
	}
	if faults := append(p.faults, p.extraWords(0)...); len(faults) > 0 {
		return s.refuseFlags("version", faults)
	}
	if !f.licences {
		return s.printText(fmt.Sprintf("dyno %s (%s %s/%s)\n", loadplan.Version, runtime.Version(),
			runtime.GOOS, runtime.GOARCH))
	}
	text, err := notices.NoticesText()
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	return s.printText(text)
}
