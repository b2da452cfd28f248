"""The engine, which cuts cells into blocks, runs the blocks on a pool of workers, and stops cells early."""
