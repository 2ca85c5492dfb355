export interface TimeLimit {
  end(): void;
}

/**
 * Calls `onOver` after the time, but reads pending input first: after a blocked time, a timely answer and the end are
 * noticed at the same moment.
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
