"""The engine: it cuts cells into blocks, runs them on a pool of workers, and stops cells early."""
