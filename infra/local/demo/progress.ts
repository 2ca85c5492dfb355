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

/** One line that is written over and over on a terminal; elsewhere a new line whenever a number has changed. */
export function progressOn(output: Output): Progress {
  let last: string | undefined;
  return {
    show: (counts) => {
      const line = reportedStates.map((state) => `${state} ${String(counts[state]).padStart(4)}`).join('  ');
      if (line === last) return;
      last = line;
      output.write(output.isTTY === true ? `\r${line}` : `${line}\n`);
    },
    end: () => {
      if (output.isTTY === true && last !== undefined) output.write('\n');
      last = undefined;
    },
  };
}
