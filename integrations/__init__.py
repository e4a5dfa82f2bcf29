"""Adapters between onehot_fast and the libraries people already use.

Each module imports the one library it is named after, and only when it is imported itself:
``import onehot_fast.integrations`` costs nothing.
"""
