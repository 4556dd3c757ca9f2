package cli

import (
	"fmt"
	"runtime"

	"dyno/internal/engine/load"
	"dyno/internal/notices"
)

// versionFlags is the command line of dyno version.
type versionFlags struct {
	helpFlag
	licences bool
}

func (f *versionFlags) groups() []group {
	return []group{{"Flags", []option{
		{"licences", "", "", "print the licences of all that is in this binary", on(&f.licences)},
		{"help", "h", "", "this", on(&f.help)},
	}}}
}

// version is dyno version.
func version(s streams, args []string) int {
	var f versionFlags
	p := parse(args, f.groups())
	if f.help {
		return s.help("version")
	}
	if faults := append(p.faults, p.extra(0)...); len(faults) > 0 {
		return s.refuse("version", faults)
	}
	if !f.licences {
		return s.print(fmt.Sprintf("dyno %s (%s %s/%s)\n", load.Version, runtime.Version(),
			runtime.GOOS, runtime.GOARCH))
	}
	text, err := notices.NoticesText()
	if err != nil {
		return s.fail(exitUsage, err)
	}
	return s.print(text)
}
