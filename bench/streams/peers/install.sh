#!/bin/sh
# Installs the peers of bench/streams/peers into FOLDER, each into a virtual environment of its own,
# which pip fills from PyPI: AIPerf 1.2 GB, guidellm 6 GB, vLLM 10 GB, because the last two bring
# PyTorch. None needs a model, a hub or a GPU for what the bench does. With names after FOLDER it
# installs only these.
set -eu

[ $# -ge 1 ] || { echo "usage: $0 FOLDER [aiperf|guidellm|vllm]…" >&2; exit 2; }
folder=$1
shift
mkdir -p "$folder"
for package in aiperf==0.13.0 guidellm==0.8.1 vllm==0.33.0; do
	name=${package%%==*}
	case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
	python3 -m venv "$folder/$name"
	"$folder/$name/bin/pip" install --quiet --no-cache-dir "$package" ||
		echo "$package could not be installed; the bench leaves it out" >&2
done
