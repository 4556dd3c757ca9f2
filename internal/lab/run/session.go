package run

import (
	"crypto/sha256"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"dyno/internal/lab/experiment"
	"dyno/internal/lab/experiment/secrets"
	"dyno/internal/result"
	"dyno/internal/server"
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
			Started: time.Now().UTC(), Seed: e.Design.Seed, Quick: l.Quick},
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

// SplitCPUs divides the CPUs between generator and servers: as the file says, otherwise by cores.
func SplitCPUs(c experiment.CPUs) (server.Split, error) {
	s, err := server.SplitCPUs()
	if err != nil {
		return s, err
	}
	if len(c.Generator) > 0 {
		s.Generator = c.Generator
	}
	if len(c.Server) > 0 {
		s.Server = c.Server
	}
	if len(c.Generator)+len(c.Server) > 0 {
		s.Apart, s.Reason = true, ""
		for _, cpu := range s.Generator {
			if slices.Contains(s.Server, cpu) {
				s.Apart, s.Reason = false, fmt.Sprintf("CPU %d is in both sets of design.cpus", cpu)
			}
		}
	}
	return s, nil
}
