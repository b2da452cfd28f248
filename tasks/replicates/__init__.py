"""The fan-outs: each module computes the blocks of one, as `sigstats.tasks.fan_out` asks."""
