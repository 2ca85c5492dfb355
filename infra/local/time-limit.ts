export interface TimeLimit {
  /** After this call, `onOver` is not called. */
  end(): void;
}

/**
 * Calls `onOver` after the time, but first lets pending input be read: when this process was blocked, a timely answer
 * and the end of the time are noticed at the same moment.
 */
export function startTimeLimit(ms: number, onOver: () => void): TimeLimit {
  let ended = false;
  const timer = setTimeout(() => setImmediate(() => ended || onOver()), ms);
  return {
    end: () => {
      ended = true;
      clearTimeout(timer);
    },
  };
}
