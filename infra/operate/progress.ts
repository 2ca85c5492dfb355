/** Runs long work and tells meanwhile how far it is; `words` are asked when they are shown. */
export type Progress = <T>(words: () => string, work: () => Promise<T>) => Promise<T>;

interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const onTerminalMs = 1_000;
const elsewhereMs = 60_000;

/** Overwrites one line each second on a terminal; elsewhere it writes a line a minute. */
export function progressOn(output: Output): Progress {
  return async (words, work) => {
    const startMs = performance.now();
    const tell = () => {
      const line = `${Math.round((performance.now() - startMs) / 1_000)} s: ${words()}`;
      output.write(output.isTTY === true ? `\r\u001b[K${line}` : `${line}\n`);
    };
    const timer = setInterval(tell, output.isTTY === true ? onTerminalMs : elsewhereMs);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      clearProgress(output);
    }
  };
}

/** Takes the line of a running progress off a terminal, so that another line can be printed meanwhile. */
export function clearProgress(output: Output): void {
  if (output.isTTY === true) output.write('\r\u001b[K');
}
