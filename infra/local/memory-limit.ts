import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

const bytesPerMb = 1024 * 1024;
/** Linux has the peak in a small file; elsewhere `ps` tells only the current size. */
const lookEveryMs = process.platform === 'linux' ? 20 : 250;

export interface MemoryWatch {
  /** Ends the watch. On Linux a peak since the last look is still found. */
  end(): void;
}

/**
 * Watches the resident set of a process as Lambda does, with Node's shared pages and the peak. Calls `onPassed` once,
 * with the size in MB, above the limit. Nothing is enforced when the size cannot be read.
 */
export function watchMemory(pid: number, limitMb: number, onPassed: (residentMb: number) => void): MemoryWatch {
  let ended = false;
  const end = () => {
    ended = true;
    clearInterval(timer);
  };
  const judge = (bytes: number | undefined) => {
    if (ended || bytes === undefined || bytes <= limitMb * bytesPerMb) return;
    end();
    onPassed(Math.ceil(bytes / bytesPerMb));
  };
  const look = process.platform === 'linux' ? () => judge(peakBytes(pid)) : () => askPs(pid, judge);
  const timer = setInterval(look, lookEveryMs);
  return {
    end: () => {
      if (process.platform === 'linux') look();
      end();
    },
  };
}

function peakBytes(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

function askPs(pid: number, judge: (bytes: number | undefined) => void): void {
  execFile('ps', ['-o', 'rss=', '-p', String(pid)], (error, kilobytes) => {
    judge(error === null ? Number(kilobytes) * 1024 : undefined);
  });
}

/**
 * Returns the heap sizes of Lambda's Node.js runtime: nine tenths for the old generation, and half of the rest for each
 * half of the young one.
 */
export function heapOptions(memoryMb: number): string[] {
  const youngMb = Math.floor(memoryMb / 10);
  return [`--max-semi-space-size=${Math.floor(youngMb / 2)}`, `--max-old-space-size=${memoryMb - youngMb}`];
}
