import { turnAt } from '../../../../lib/messages/pace/schedule.ts';

/** The number takes 80 messages a second; its schedule gives out nine tenths (D43). */

export const startMs = 1_800_000_000_000;
export const limitPerSecond = 80;
export const everyMs = 1_000 / (0.9 * limitPerSecond);
export const turn = turnAt(everyMs);
export const turnMs = turn * everyMs;
