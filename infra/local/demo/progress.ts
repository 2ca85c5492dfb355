/** How far a long piece of work is, for whoever watches. */
export interface Progress {
  show(done: number, of: number): void;
  /** Leaves the last line as it is. */
  end(): void;
}

interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** One line that is written over and over on a terminal; elsewhere a new line whenever the number has changed. */
export function progressOn(output: Output): Progress {
  let last: number | undefined;
  return {
    show: (done, of) => {
      if (done === last) return;
      last = done;
      const line = `${String(done).padStart(String(of).length)} of ${of} have reached the platform`;
      output.write(output.isTTY === true ? `\r${line}` : `${line}\n`);
    },
    end: () => {
      if (output.isTTY === true && last !== undefined) output.write('\n');
      last = undefined;
    },
  };
}
