"""Paper 4's latent models: rows against classes (LSI_ac) and against rows (LSI_td)."""
