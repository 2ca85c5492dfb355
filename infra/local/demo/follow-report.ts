import type { DemoClient, Report, ReportRow } from './client.ts';
import { lostRecipient } from './special-recipients.ts';
import { type WatchOptions, watched } from './watching.ts';

export interface FollowOptions extends Omit<WatchOptions<Report>, 'look' | 'sign'> {
  readonly client: Pick<DemoClient, 'report'>;
  readonly did: string;
  readonly dispatchId: string;
  readonly onReport?: (report: Report) => void;
}

/** Requests the report until it is over, or until no count has changed for the limit; returns the last report. */
export async function follow({ client, did, dispatchId, onReport, ...options }: FollowOptions): Promise<Report> {
  const look = async () => {
    const report = await client.report(did, dispatchId);
    onReport?.(report);
    return report;
  };
  return watched({ ...options, look, sign: ({ counts }) => counts });
}

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
