import { Agent } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { freshConnections } from '../../../lib/platform/connections.ts';

/** Makes an agent with these open connections. */
function keeping(...kept: Socket[]) {
  const agent = Object.assign(new Agent(), { freeSockets: { 'elsewhere:443:': undefined, 'platform:443:': kept } });
  const now = { ms: 1_000 };
  const connections = freshConnections(agent, { wallMs: () => now.ms, monotonicMs: () => now.ms });
  return { agent, now, connections };
}

test('a connection that no request has taken is not handed out, and hosts without any are passed over', () => {
  const [taken, never] = [new Socket(), new Socket()];
  const { agent, connections } = keeping(taken, never);
  connections.taken(taken);
  expect(connections.agent()).toBe(agent);
  expect([taken.destroyed, never.destroyed]).toEqual([false, true]);
});
