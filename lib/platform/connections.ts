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
  const isUsable = (connection: Socket) => {
    const since = takenAt.get(connection);
    return since !== undefined && isRecent(since.wallMs, wallMs()) && isRecent(since.monotonicMs, monotonicMs());
  };
  return {
    agent: () => {
      for (const connection of Object.values(agent.freeSockets).flatMap((free) => free ?? [])) {
        if (!isUsable(connection)) connection.destroy();
      }
      return agent;
    },
    taken: (connection) => {
      takenAt.set(connection, { wallMs: wallMs(), monotonicMs: monotonicMs() });
    },
  };
}

/** A clock that was set back says nothing. */
function isRecent(sinceMs: number, nowMs: number): boolean {
  return sinceMs <= nowMs && nowMs - sinceMs < usableForMs;
}
