import { setTimeout as pause } from 'node:timers/promises';
import type { DemoClient, Report, ReportRow } from './client.ts';
import { lostRecipient } from './fates.ts';

export interface FollowOptions {
  readonly client: Pick<DemoClient, 'report'>;
  readonly did: string;
  readonly jobId: string;
  /** Longest wait for the last message. */
  readonly limitMs: number;
  /** Between two looks at the report. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly isOver: (report: Report) => boolean;
  readonly onReport?: (report: Report) => void;
}

/** Asks for the report again and again until it is over; returns the last one, after `limitMs` one that is not over. */
export async function follow(options: FollowOptions): Promise<Report> {
  const { client, did, jobId, limitMs, everyMs, signal, isOver, onReport } = options;
  const endMs = performance.now() + limitMs;
  for (;;) {
    const report = await client.report(did, jobId);
    onReport?.(report);
    if (isOver(report) || performance.now() > endMs) return report;
    await pause(everyMs, undefined, { signal });
  }
}

/** Whether nothing more is expected of anybody: each message was read or not delivered, or is held. */
export function isSettled({ counts }: Report): boolean {
  return counts.pending + counts.unknown + counts.sent + counts.delivered === 0;
}

/** Remembers how the report told of the message whose answer was lost, each state once. */
export function lostOneWatched() {
  const told: ReportRow[] = [];
  return {
    look: ({ data }: Report) => {
      const row = data.find(({ to }) => to === lostRecipient);
      if (row !== undefined && row.state !== told.at(-1)?.state) told.push(row);
    },
    told,
  };
}
