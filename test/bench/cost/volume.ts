import list from '../../../infra/operate/list-prices.json' with { type: 'json' };
import * as assumed from './assumed.ts';

/*
 * A message costs room in tables, backups and logs, and traffic, beside its requests. Thirty days of storage are a
 * month of it.
 */

export type Volume = keyof typeof list.volume;
export type VolumeCounts = Readonly<Partial<Record<Volume, number>>>;

/** A message leaves these bytes in tables and logs, and sends the last to the internet. */
export interface Left {
  readonly storedBytes: number;
  readonly logBytes: number;
  readonly sentBytes: number;
}

const bytesOfGb = 1_000_000_000;

/** Returns what the messages take until everything of them has expired. */
export function volumeOf(
  { storedBytes, logBytes, sentBytes }: Left,
  { messages, logRetentionDays }: { readonly messages: number; readonly logRetentionDays: number },
): VolumeCounts {
  const gb = (bytes: number) => (bytes * messages) / bytesOfGb;
  const monthsKept = assumed.keptDays / 30;
  return {
    storedGb: gb(storedBytes) * monthsKept,
    backedUpGb: gb(storedBytes) * monthsKept,
    storedLogGb: gb(logBytes) * assumed.compressedLog * (logRetentionDays / 30),
    sentGb: gb(sentBytes),
  };
}

export function volumeDollars(counts: VolumeCounts): Readonly<Partial<Record<Volume, number>>> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, amount]) => {
      const { dollars, per } = list.volume[name as Volume];
      return [name, (amount * dollars) / per];
    }),
  );
}
