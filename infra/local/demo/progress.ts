import { type ReportedState, reportedStates } from '../../../lib/messages/receipts/reported-state.ts';

/** How far a send is, for whoever watches. */
export interface Progress {
  show(counts: Readonly<Record<ReportedState, number>>): void;
  /** Leaves the last line as it is. */
  end(): void;
}

interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * One line that is written over and over on a terminal; elsewhere a new line whenever a count has changed. It ends with how
 * many messages a second have left `pending`, from the first of them to the last one so far.
 */
export function progressOn(output: Output, nowMs: () => number = () => performance.now()): Progress {
  let last: string | undefined;
  const rateOf = departures(nowMs);
  return {
    show: (counts) => {
      const rate = rateOf(counts.pending);
      const states = reportedStates.map((state) => `${state} ${String(counts[state]).padStart(4)}`).join('  ');
      if (states === last) return;
      last = states;
      const line = `${states}  ${rate.toFixed(0).padStart(4)} messages/s`;
      output.write(output.isTTY === true ? `\r${line}` : `${line}\n`);
    },
    end: () => {
      if (output.isTTY === true && last !== undefined) output.write('\n');
      last = undefined;
    },
  };
}

/** Messages a second, look by look; from when the most were pending, so that the wait for the first one does not count. */
function departures(nowMs: () => number): (pending: number) => number {
  let from = { pending: 0, atMs: nowMs() };
  let last = { pending: 0, rate: 0 };
  return (pending) => {
    if (pending >= from.pending) {
      from = { pending, atMs: nowMs() };
      last = { pending, rate: 0 };
    } else if (pending !== last.pending) {
      last = { pending, rate: ((from.pending - pending) * 1_000) / (nowMs() - from.atMs) };
    }
    return last.rate;
  };
}
