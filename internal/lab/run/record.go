package run

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment/secrets"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
)

func (r *running) newRecord() error {
	l, e := r.Lab, r.Experiment
	kept, err := secrets.TakeOut(e, l.Keep)
	if err != nil {
		return err
	}
	r.source, r.conceal = kept.Source, concealing(e, l.Keep, kept.Secrets)
	sum := sha256.Sum256(kept.Source)
	r.record = &lab.Record{Format: lab.ExperimentFormat,
		Progress: lab.Progress{Dyno: l.Version, Name: e.Name, State: lab.Running,
			Started: time.Now().UTC(), Seed: e.Design.Seed, Quick: l.Quick, Rounds: l.Rounds},
		Definition: lab.Definition{File: e.File, Here: e.Here, SHA256: hex.EncodeToString(sum[:]),
			Plan: kept.Plan, Experiment: e},
		Setup: lab.Setup{Host: result.ThisHost(), Machine: machineFacts(), CPUs: l.CPUs,
			Fleet: l.Fleet},
		Preparation: lab.Preparation{Shown: l.Keep == nil}}
	return nil
}

// storeConclusion computes the record's findings from the trials, and stores it.
func (r *running) storeConclusion() error {
	if r.record.State == lab.Running {
		r.record.State = lab.Complete
	}
	r.record.Ended = time.Now().UTC()
	if r.worked >= 0 {
		r.record.WorkedS = r.worked + time.Since(r.began).Seconds()
	}
	judge.Compute(r.record, r.trials)
	judge.AddNoise(r.record, lab.ReadEarlier(r.History, r.record))
	return r.folder.WriteJSON(lab.RecordFile, r.record)
}
