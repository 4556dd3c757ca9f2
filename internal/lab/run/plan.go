package run

import (
	"fmt"
	"io"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
	"dyno/internal/lab/experiment"
)

// settleMax is how long the load runs at most on its new connections before its window begins. The
// server is warm by then, but the connections are not.
const settleMax = 500 * time.Millisecond

// settlingTime is a quarter of the window of e, at most settleMax.
func settlingTime(e *experiment.Experiment) time.Duration {
	return min(settleMax, time.Duration(e.Design.Measure)/4)
}

// plan is the measured load of a level on a server.
func plan(e *experiment.Experiment, f *filling, l experiment.Level, w experiment.Workload,
	url string, cpus []int) (loadplan.Plan, error) {
	u, err := requests.Parse(url)
	if err != nil {
		return loadplan.Plan{}, err
	}
	p := loadplan.DefaultPlan()
	p.Target, p.CPUs = u.Target, cpus
	p.Connections, p.Pipeline = int(l.Connections), l.Pipeline
	p.Reconnect, p.Timeout = int(l.Reconnect), loadplan.Seconds(l.Timeout)
	p.HTTP = l.HTTP
	if l.HTTP == experiment.HTTPAuto && !p.OnlyHTTP2() && !u.Target.FastCGI { // the check uses it too
		p.HTTP = experiment.HTTP11
	}
	if p.OnlyHTTP3() { // its library's goroutines run on all CPUs of the process
		p.CPUs = nil
	}
	p.Threads = generatorThreads(l, cpus)
	if l.Rate > 0 { // one with a share of a capacity has none yet
		p.Rate, p.Arrival = loadplan.RatePerSecond(float64(l.Rate)), l.Arrival
	}
	p.Duration = loadplan.Seconds(e.Design.Measure)
	if p.Reconnect != 1 { // otherwise connections are always new
		p.Warmup = loadplan.Seconds(settlingTime(e))
	}
	if p.Requested = int64(l.Requests); p.Requested > 0 {
		p.Duration, p.Warmup = 0, 0 // all requests are counted
	}
	for _, s := range w.Expect.Status {
		p.Expect = append(p.Expect, loadplan.Statuses{From: uint16(s.From), To: uint16(s.To)})
	}
	if err := f.setRequests(e, &p, w, u, url); err != nil {
		return loadplan.Plan{}, err
	}
	return p, p.Check()
}

// setRequests has a plan send what a workload says to the server at a URL, which is u, too.
func (f *filling) setRequests(e *experiment.Experiment, p *loadplan.Plan, w experiment.Workload,
	u requests.URL, url string) (err error) {
	if w.Hurl != "" {
		return f.setSession(e, p, w, url)
	}
	if w.Script != "" {
		return f.setScript(e, p, w, u)
	}
	if p.Requests, err = buildRequests(e, f, w, u); err != nil {
		return err
	}
	f.fillPlan(p, w)
	return onestep.SetScenario(p, f.table)
}

// fillPlan has a plan send and check what a workload says of holes, users and answers.
func (f *filling) fillPlan(p *loadplan.Plan, w experiment.Workload) {
	p.SetVariables(variables(w))
	p.Expectations = loadplan.Expectations{Body: w.Expect.Body.Texts(),
		Header: w.Expect.Header.Texts()}
	if w.Data != "" {
		p.Rows = f.rows
	}
	p.Users = w.Users
	p.FitThreads()
}

// generatorThreads is the number of threads of a generator on cpus, at a level.
func generatorThreads(l experiment.Level, cpus []int) int {
	n := l.Threads
	if n == 0 {
		n = max(len(cpus), 1)
	}
	return min(n, int(l.Connections))
}

// buildRequests returns the requests, which are sent in turn.
func buildRequests(e *experiment.Experiment, fill *filling, w experiment.Workload,
	u requests.URL) ([]loadplan.Request, error) {
	d := requests.Defaults{URL: u, Method: w.Request.Method, Header: headerFields(w.Request),
		Names: &fill.names}
	if w.RequestsFile != "" {
		return readRequests(e, w.RequestsFile, func(f io.Reader) ([]loadplan.Request, error) {
			return requests.Read(w.RequestsFile, f, d)
		})
	}
	if w.URLs != "" {
		return readRequests(e, w.URLs, func(f io.Reader) ([]loadplan.Request, error) {
			urls, err := requests.URLs(w.URLs, f, u, d.Names)
			if err != nil {
				return nil, err
			}
			return requests.Pair(d, urls, [][]byte{nil})
		})
	}
	if w.Request.Path != "" {
		if u.Path != "" && u.Path != "/" && u.Path != w.Request.Path { // Read cannot see all templates
			return nil, fmt.Errorf("the path of the variant's url, %s, is not what requests ask for, %s; "+
				"leave one of the two out of the file", u.Path, w.Request.Path)
		}
		u.Path = w.Request.Path
	}
	body, err := requestBody(e, w.Request)
	if err != nil {
		return nil, err
	}
	return requests.Pair(d, []requests.URL{u}, [][]byte{body})
}

func headerFields(r experiment.Request) (all []proto.Field) {
	for _, h := range r.Headers {
		all = append(all, proto.Field{Name: h.Name, Value: h.Value})
	}
	return all
}

// requestBody is the body of a request; nil if it has none.
func requestBody(e *experiment.Experiment, r experiment.Request) ([]byte, error) {
	switch {
	case r.BodyFile != "":
		f, err := e.Open(r.BodyFile)
		if err != nil {
			return nil, fmt.Errorf("body_file: %w", err)
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		if err != nil {
			return nil, fmt.Errorf("body_file: %w", err)
		}
		return b, nil
	case r.Body != "":
		return []byte(r.Body), nil
	}
	return nil, nil
}

func readRequests(e *experiment.Experiment, name string,
	read func(io.Reader) ([]loadplan.Request, error)) ([]loadplan.Request, error) {
	f, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}
