#!/bin/sh
# Predicts a folder of models as a Slurm array: sbatch --array=1-16 slurm.sh MODELS OUT
#SBATCH --job-name=ctm
#SBATCH --cpus-per-task=4
#SBATCH --time=02:00:00
set -eu
exec ctm --quiet predict "$1" --all --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --rows "$2/part-$SLURM_ARRAY_TASK_ID.jsonl" --resume
