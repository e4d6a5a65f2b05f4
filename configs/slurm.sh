#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A Slurm job: one rank per 4 cores on two nodes, with 4 OpenMP threads per rank.
#   sbatch configs/slurm.sh case.yaml [further arguments of solve]
# For one GPU per rank: add --gpus-per-node=8 --gpu-bind=none and give --device cuda. (With
# --gpus-per-task a rank sees its own GPU only, and GPUs cannot write into each other's memory.)
#SBATCH --job-name=trireme
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
set -euo pipefail

solve=${TRIREME_SOLVE:-solve} # TRIREME_SOLVE=/path/to/solve where it is not in PATH
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1} OMP_PLACES=cores OMP_PROC_BIND=close

if (($# == 0)); then
  echo "usage: sbatch $0 case.yaml [arguments of solve]" >&2
  exit 2
fi
config=$1
shift

# Outside of Slurm, or where its MPI plug-in is not set up, mpirun starts the ranks.
if [[ -n ${SLURM_JOB_ID:-} && -z ${TRIREME_MPIRUN:-} ]]; then
  launch=(srun --cpus-per-task="$OMP_NUM_THREADS")
else
  read -ra launch <<<"${TRIREME_MPIRUN:-mpirun -n 2}"
fi
exec "${launch[@]}" "$solve" --config "$config" "$@"
