import { type ReportedState, reportedStates } from '../../../lib/messages/receipts/reported-state.ts';

export interface Progress {
  show(counts: Readonly<Record<ReportedState, number>>): void;
  /** Keeps the last line as it is. */
  end(): void;
}

interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Overwrites one line on a terminal; elsewhere each change is a new line. It ends with the rate at which messages left
 * `pending`, in messages a second.
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

/** The rate counts from the moment with the most pending, so that the wait for the first does not count. */
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
