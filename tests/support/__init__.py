"""What tests share: oracles, strategies of hypothesis, tables of each library, programs."""
