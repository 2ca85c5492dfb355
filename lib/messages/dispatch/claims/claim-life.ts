/** Longest run of a worker: its configured time-out, after which Lambda kills it. */
export const dispatchTimeoutMs = 60_000;

/** From this age on the owner of a claim is dead: the worker's time-out, and a margin for clocks and late writes. */
export const claimLifeMs = dispatchTimeoutMs + 30_000;
