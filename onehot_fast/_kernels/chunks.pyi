# Called from other compiled modules only.
