/** A running time limit. */
export interface TimeLimit {
  /** Ends the limit: `onOver` is not called any more. */
  end(): void;
}

/**
 * Calls `onOver` when the time is over. What has come until then is read first: where this process was kept from running,
 * the end of the time and an answer that came long before it are found at the same moment.
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
