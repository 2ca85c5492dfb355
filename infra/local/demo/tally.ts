import { isDeepStrictEqual } from 'node:util';
import type { OutcomeCounts } from '../../../lib/messages/outcomes/outcome.ts';
import { expectedComponents, type Recipient } from './audience.ts';

/** A message as the platform received it. */
export interface ReceivedMessage {
  readonly to: string;
  readonly components: unknown;
}

/** What became of one send, by the service's own outcomes and by what reached the platform. */
export interface Tally extends OutcomeCounts {
  /** Recipients that the service answered for. */
  readonly accepted: number;
  /** Messages that a recipient got beyond the first. */
  readonly duplicates: number;
  /** Recipients to whom nothing reached the platform. */
  readonly missing: number;
  /** Messages whose parameters are not their recipient's own. */
  readonly mixedUp: number;
}

/** Counts; messages to others than the recipients are somebody else's and left out. */
export function tallyOf(
  recipients: readonly Recipient[],
  outcomes: OutcomeCounts,
  received: readonly ReceivedMessage[],
): Tally {
  const byNumber = new Map(recipients.map((recipient) => [recipient.to, recipient]));
  const reached = new Set<string>();
  let messages = 0;
  let mixedUp = 0;
  for (const { to, components } of received) {
    const recipient = byNumber.get(to);
    if (recipient === undefined) continue;
    messages += 1;
    reached.add(to);
    if (!isDeepStrictEqual(components, expectedComponents(recipient))) mixedUp += 1;
  }
  const accepted = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const missing = recipients.length - reached.size;
  return { ...outcomes, accepted, duplicates: messages - reached.size, missing, mixedUp };
}

/** In one sentence each, everything that is not as it must be after a send to `wanted` recipients that has ended. */
export function discrepancies(tally: Tally, wanted: number): string[] {
  const { accepted, failed, unknown, pending, duplicates, missing, mixedUp } = tally;
  return [
    ...(accepted === wanted ? [] : [`${accepted} recipients were accepted, not ${wanted}.`]),
    ...(pending === 0 ? [] : [`${pending} of ${accepted} messages have no outcome yet.`]),
    ...(duplicates === 0 ? [] : [`${duplicates} messages were sent more than once.`]),
    ...(missing === 0 ? [] : [`${missing} recipients got nothing: ${failed} failed, ${unknown} unknown.`]),
    ...(mixedUp === 0 ? [] : [`${mixedUp} messages carry other parameters than their recipient's.`]),
  ];
}

/** The table that the demo ends with. */
export function tableOf(tally: Tally, seconds: number): string {
  const { accepted, sent, held, failed, unknown, duplicates } = tally;
  const columns = Object.entries({ accepted, sent, held, failed, unknown, duplicates, seconds: seconds.toFixed(1) });
  const row = (cellOf: (column: readonly [string, string | number]) => string | number) =>
    columns.map((column) => String(cellOf(column)).padStart(Math.max(8, column[0].length))).join('  ');
  return `${row(([name]) => name)}\n${row(([, value]) => value)}`;
}
