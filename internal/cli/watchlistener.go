package cli

import (
	"slices"
	"strconv"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/server"
)

// leaveOthers leaves of each name in --watch only the processes that listen where the load goes,
// because the CPU time of the others is not the load's. A number names one process, wherever it
// listens. The facts are what is not as somebody would expect who gave a name.
func (f *runFlags) leaveOthers() (found []fact.Fact) {
	for _, what := range f.watch {
		_, agent := splitWatch(what)
		if _, err := strconv.Atoi(what); err == nil || agent != "" {
			continue
		}
		named, err := probe.Find(what)
		if err != nil {
			continue // it was there when the flag was read, and has ended
		}
		others, told := othersOf(what, named, f.plan.Target, server.Listens)
		f.watched = slices.DeleteFunc(f.watched, func(t probe.Tree) bool {
			return slices.Contains(others, t.PID) && !slices.Contains(f.watch, strconv.Itoa(t.PID))
		})
		found = append(found, told...)
	}
	return found
}

// othersOf are the processes of a name that do not listen where the load goes; none, if none is
// known to listen there.
func othersOf(name string, named []probe.Tree, to loadplan.Target,
	listens func(pid, port int) (is, known bool)) (others []int, told []fact.Fact) {
	port := int(to.Port)
	var watched []int
	known := false // of one of those that do not listen there
	for _, t := range named {
		is := false
		if to.Unix == "" {
			var sure bool
			is, sure = listens(t.PID, port)
			known = known || sure
		}
		if is {
			watched = append(watched, t.PID)
		} else {
			others = append(others, t.PID)
		}
	}
	switch {
	case len(watched) == 0 && (known || len(named) > 1):
		return nil, []fact.Fact{{Severity: fact.Warning,
			Args: fact.NoListener{Name: name, Port: port, Watched: others}}}
	case len(watched) == 0:
		return nil, nil
	case len(others) > 0:
		told = []fact.Fact{{Severity: fact.Note,
			Args: fact.OthersOfName{Name: name, Port: port, Watched: watched, Others: others}}}
	}
	return others, told
}

// addFound adds facts about what is watched to a result. A warning is told as one.
func addFound(r *result.Result, found []fact.Fact) { r.Warn(found...) }
