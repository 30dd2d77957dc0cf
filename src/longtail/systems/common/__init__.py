"""Parts that several systems share: the learnt score, its witnesses, and figures on validation documents."""
