package workload

import (
	"fmt"
	"io"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
	"dyno/internal/lab/experiment"
)

// buildRequests returns the requests, which are sent in turn.
func buildRequests(e *experiment.Experiment, fill *Inputs, w experiment.Workload,
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
