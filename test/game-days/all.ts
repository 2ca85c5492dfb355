import type { Description } from '../proof/trial/play.ts';
import { deadLetters } from './dead-letters.ts';
import { numberSlows } from './number-slows.ts';
import { tableRestored } from './table-restored.ts';
import { tablesSwapped } from './tables-swapped.ts';
import { templatePaused } from './template-paused.ts';
import { tokenRevoked } from './token-revoked.ts';

/** They are played in this order. */
export const gameDays: readonly Description[] = [
  tokenRevoked,
  numberSlows,
  templatePaused,
  deadLetters,
  tableRestored,
  tablesSwapped,
];
