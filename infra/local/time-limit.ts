/** A time that somebody has. */
export interface TimeLimit {
  /** Done in time: nobody is told. */
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
