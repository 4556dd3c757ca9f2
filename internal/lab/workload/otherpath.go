package workload

import (
	"fmt"
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/lab/experiment"
)

// otherPathFaults are the faults of variants whose URL has a path that nobody asks for, because
// each line of a file says what is asked for. Package experiment finds those of request.path.
func otherPathFaults(e *experiment.Experiment, f *Inputs) (faults []error) {
	key, file := "workload.urls", e.Workload.URLs
	if e.Workload.RequestsFile != "" {
		key, file = "workload.requests_file", e.Workload.RequestsFile
	}
	if file == "" {
		return nil
	}
	checked := map[string]bool{}
	for _, v := range experiment.Expand(e) {
		if checked[v.Of] || v.Request != nil {
			continue
		}
		path := unaskedPath(e, f, v)
		if checked[v.Of] = path != ""; path == "" {
			continue
		}
		its, from := "its path, "+path+",", e.FaultIn(key, "", 0, "")
		if experiment.HasEnv(string(v.URL)) {
			its = "its path" // what the environment has may be secret
		}
		faults = append(faults, e.FaultIn(experiment.PathOf("variants", v.Of)+".url", "", 0,
			fmt.Sprintf("%s is not what requests ask for: %s, at %s:%d:%d, is %s, of which no line has "+
				"it; leave it out", its, key, from.File, from.Line, from.Column, file)))
	}
	return faults
}

// unaskedPath is the path of a variant's URL if neither a request nor the question whether the
// server is ready has it; "" otherwise, and if that is not known.
func unaskedPath(e *experiment.Experiment, f *Inputs, v experiment.Variant) string {
	i, err := experiment.Render(v, experiment.Values{Dir: "/run", Build: "/build", Here: "/here",
		Dyno: "/dyno", CPUs: 1, Connections: 1, Threads: 1,
		Port:   func(string) (int, error) { return 10000, nil },
		Socket: func(_, _ string) (string, error) { return "/run/socket", nil }})
	if err != nil {
		return ""
	}
	u, err := requests.Parse(i.URL)
	if err != nil || u.Path == "" || u.Path == "/" {
		return ""
	}
	if n := len(v.Processes); n > 0 && !u.Target.FastCGI {
		if ready := v.Processes[n-1].Ready; ready == nil || ready.HTTP == "" {
			return "" // the server is ready when it answers there
		}
	}
	all, err := buildRequests(e, f, Of(e, v), u)
	if err != nil || slices.ContainsFunc(all, func(r loadplan.Request) bool {
		return r.Path == u.Path
	}) {
		return ""
	}
	return u.Path
}
