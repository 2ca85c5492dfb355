import type { Agent } from 'node:http';
import type { Socket } from 'node:net';

/** There are two clocks: either may stop while the machine sleeps, and the wall clock may be set. */
export interface Clocks {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
}

export const machineClocks: Clocks = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

/** A connection stays usable for this long after its last request began, far below any server's idle time-out. */
const usableForMs = 2_000;

export interface Connections {
  /** Returns the agent for a request that starts now, without stale connections. */
  readonly agent: () => Agent;
  /** Marks a connection as taken by a request now. */
  readonly taken: (connection: Socket) => void;
}

/**
 * Keeps connections across invocations, but never a stale one: Lambda freezes between them while the server closes its
 * end. A reset on such a connection looks like an accepted request.
 */
export function freshConnections(agent: Agent, { wallMs, monotonicMs }: Clocks): Connections {
  /**
   * Age counts from a request's start, because an answer may arrive during sleep. `fifo` hands out the longest-rested
   * connection and skips closed ones.
   */
  const takenAt = new WeakMap<Socket, { readonly wallMs: number; readonly monotonicMs: number }>();
  const now = () => ({ wallMs: wallMs(), monotonicMs: monotonicMs() });
  return {
    agent: () => {
      // The clocks are read once, because a sender that is fast has dozens of free connections at each call.
      const at = now();
      for (const free of Object.values(agent.freeSockets)) {
        for (const connection of [...(free ?? [])]) {
          const since = takenAt.get(connection);
          const isUsable =
            since !== undefined && isRecent(since.wallMs, at.wallMs) && isRecent(since.monotonicMs, at.monotonicMs);
          if (!isUsable) connection.destroy();
        }
      }
      return agent;
    },
    taken: (connection) => {
      takenAt.set(connection, now());
    },
  };
}

/** A clock that was set back says nothing. */
function isRecent(sinceMs: number, nowMs: number): boolean {
  return sinceMs <= nowMs && nowMs - sinceMs < usableForMs;
}
