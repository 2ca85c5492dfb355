import { turnAt } from '../../../../lib/messages/pace/schedule.ts';

/* A number that may send 80 messages a second, of which the schedule gives nine tenths out (D43). */

export const startMs = 1_800_000_000_000;
export const limitPerSecond = 80;
export const everyMs = 1_000 / (0.9 * limitPerSecond);
/** Messages of a turn, and how long one takes. */
export const turn = turnAt(everyMs);
export const turnMs = turn * everyMs;
