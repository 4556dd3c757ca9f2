package run

import (
	"context"
	"errors"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
)

// Rehearse builds every variant, starts each once, asks it and compares the answers, without any
// load. It returns the record of that: its arms say which of them can be compared. The folder,
// which must not exist, has the servers' output afterwards. An error other than ErrNothingLeft
// means that nothing could be started.
func (l *Lab) Rehearse(ctx context.Context) (*lab.Record, error) {
	if l.Experiment.Fairness.Mode == experiment.Off { // it has to be asked to be started
		e := *l.Experiment
		e.Fairness.Mode, l.Experiment = experiment.Warn, &e
	}
	r, err := l.prepareRun()
	if err != nil {
		return nil, err
	}
	err = r.prepareVariants(ctx)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return r.record, errors.Join(err, r.folder.Unlock())
}
