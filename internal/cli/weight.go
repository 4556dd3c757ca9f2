package cli

import (
	"errors"
	"math"

	"dyno/internal/capacity"
	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
	"dyno/internal/setting"
)

// calibratedWeight means the weight that a calibration of the machine gives.
const calibratedWeight = "calibrated"

// parseWeight parses an agent's weight.
func parseWeight(s string) (int, error) {
	if s != calibratedWeight {
		return setting.Positive(setting.ParseInt)(s)
	}
	home, err := dynohome.Dir()
	if err != nil {
		return 0, err
	}
	c, err := capacity.OpenCalibration(home, result.ThisHost(), loadplan.Version)
	if err != nil {
		return 0, err
	}
	if c == nil || c.PeakRate() == 0 {
		return 0, errors.New("this machine was not calibrated; run dyno calibrate first")
	}
	return max(int(math.Round(c.PeakRate()/1000)), 1), nil
}
