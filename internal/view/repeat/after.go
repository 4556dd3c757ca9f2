package repeat

import (
	"fmt"
	"time"

	"dyno/internal/capacity"
	"dyno/internal/engine/loadplan"
	"dyno/internal/say"
)

// leastProbe is how long a probe has to take for bounds by seconds.
const leastProbe = loadplan.Seconds(8 * time.Second)

const moreBusy = "%s at each rate that missed the objectives: with more of them the server may " +
	"take more; search again with twice as many"

// AfterSearch is what to do after a search, and the command: to search with more connections if all
// were busy where it failed, and with probes that suffice, or to hold for longer what it found. It
// says nothing if it found nothing.
func AfterSearch(s *capacity.Search) (says, command, lost string) {
	short, probe := s.IsShort(), s.Plan.Duration
	if short {
		probe = leastProbe
	}
	switch busy := s.AllBusy(); {
	case busy.Connections > 0:
		says = fmt.Sprintf(moreBusy, say.Shortage(busy))
		if short {
			says += ", and with longer probes"
		}
		twice := *s
		twice.Plan.Connections *= 2
		command, lost = Search(&twice, probe)
	case short:
		says = "search again with longer probes"
		command, lost = Search(s, probe)
	case s.End == capacity.Found:
		says = "hold it for a minute"
		command, lost = Hold(s)
	}
	return says, command, lost
}
