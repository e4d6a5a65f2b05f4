#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A Slurm job of one or several nodes.
#   sbatch configs/slurm.sh case.yaml [further arguments of solve]
#   sbatch --gpus-per-node=4 configs/slurm.sh case.yaml --device cuda
# Without GPUs, each task of Slurm is a rank with --cpus-per-task OpenMP threads. With GPUs there is
# one rank per GPU, and the ranks of a node share its cores. Arguments of sbatch replace these
# defaults:
#SBATCH --job-name=trireme
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#SBATCH --signal=TERM@120
# The last line is for a solve under srun that lasts longer than the job: 120 s before the end it
# writes the solution so far, the reports and state.h5, from which the next job goes on (--resume).
#
#   TRIREME_SOLVE    the program, where it is not on the PATH, such as
#                    "apptainer exec --nv trireme.sif solve"
#   TRIREME_MPIRUN   starts the ranks in place of srun: "mpirun"
set -euo pipefail

if (($# == 0)); then
  echo "usage: sbatch configs/slurm.sh case.yaml [arguments of solve]" >&2
  exit 2
fi
read -ra solve <<<"${TRIREME_SOLVE:-solve}"
read -ra mpirun <<<"${TRIREME_MPIRUN:-}"

nodes=${SLURM_JOB_NUM_NODES:-1}
per_node=${SLURM_NTASKS_PER_NODE:-1}
cores=${SLURM_CPUS_PER_TASK:-1}
if ((${SLURM_GPUS_ON_NODE:-0} > 0)); then
  per_node=$SLURM_GPUS_ON_NODE
  cores=$((SLURM_CPUS_ON_NODE / per_node))
  ((cores > 0)) || cores=1
  export OMP_PROC_BIND=false # the threads of NCCL need a core, whichever is free
else
  export OMP_PLACES=cores OMP_PROC_BIND=close
fi
export OMP_NUM_THREADS=$cores

# Consecutive ranks exchange most, and rank k of a node takes GPU k: a node is filled in order.
if [[ -z ${SLURM_JOB_ID:-} ]]; then
  launch=("${mpirun[@]:-mpirun}")
  ((${#mpirun[@]} > 1)) || launch+=(-n 2)
elif ((${#mpirun[@]} > 0)); then
  launch=("${mpirun[@]}" --map-by "ppr:$per_node:node:PE=$cores" --bind-to core)
  # mpirun hears nothing of a node that has lost its power. It asks after 4 s, three times.
  export OMPI_MCA_oob_tcp_keepalive_time=4 OMPI_MCA_oob_tcp_keepalive_intvl=2 OMPI_MCA_oob_tcp_keepalive_probes=3
else
  launch=(srun --nodes="$nodes" --ntasks="$((nodes * per_node))" --ntasks-per-node="$per_node"
    --cpus-per-task="$cores" --cpu-bind=cores --distribution=block:block)
  # A rank must see all GPUs of its node, so that the GPUs can write into each other's memory.
  ((${SLURM_GPUS_ON_NODE:-0} == 0)) || launch+=(--gpu-bind=none)
  # Without a plug-in for MPI, each rank would be a job of its own.
  if [[ -z ${SLURM_MPI_TYPE:-} && $(srun --mpi=list 2>&1) == *pmix* ]]; then
    export SLURM_MPI_TYPE=pmix
  fi
fi
exec "${launch[@]}" "${solve[@]}" --config "$@"
