"""How Python binds a call: arguments to the parameters of every signature its callee has. Neither finds nor judges."""
