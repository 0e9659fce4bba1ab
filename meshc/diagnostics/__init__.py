"""Problems of a spec as values, and how they are printed."""
