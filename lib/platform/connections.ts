import type { Agent } from 'node:http';
import type { Socket } from 'node:net';

/** Two clocks, because either may stand still while the machine sleeps, and the first may be set. */
export interface Clocks {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
}

export const machineClocks: Clocks = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

/** A connection takes requests for so long after its last one began: far less than any server waits for the next. */
const usableForMs = 2_000;

export interface Connections {
  /** The agent for a request that is made at once, rid of every connection whose last request is too long ago. */
  readonly agent: () => Agent;
  /** A request takes this connection now. */
  readonly taken: (connection: Socket) => void;
}

/**
 * Keeps connections also from one invocation to the next, but none that has slept: a Lambda is frozen in between while the
 * other side closes its end, and a request written to such a connection ends in a reset that cannot be told from an
 * accepted one. The time counts from the beginning of a request, so that one whose answer came while the machine slept
 * is not taken for awake. The agent hands out the connection that has rested longest, `scheduling: 'fifo'`: that passes
 * over those which were ended a moment ago, wherever they stand.
 */
export function wakefulConnections(agent: Agent, { wallMs, monotonicMs }: Clocks): Connections {
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
