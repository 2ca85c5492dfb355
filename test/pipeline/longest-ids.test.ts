import { expect, test } from 'vitest';
import { queueMessageMaxBytes } from '../../lib/aws/queue-body.ts';
import { longestId } from '../support/made-dispatches.ts';
import { checkWorld } from './kept-promises.ts';
import { accept, quietWorld } from './quiet-world.ts';

test.each([10, 10_000])(
  'a send to %i user ids of the longest kind goes whole, each message once, to its own id (D24)',
  async (size) => {
    const world = quietWorld({ limitPerSecond: 1_000, workers: 200 });
    const sent: number[] = [];
    for (const queue of [world.queues.dispatch, world.queues.small]) {
      const send = queue.send.bind(queue);
      queue.send = (body, delaySeconds) => {
        sent.push(Buffer.byteLength(body));
        send(body, delaySeconds);
      };
    }
    const dispatchId = accept(world, size, { addressOf: longestId });
    await world.run(3_600_000);
    const { recipients = [] } = world.dispatches.get(dispatchId) ?? {};
    const expected = recipients.map(({ to }, index) => `${dispatchId}-${index} ${to}`);
    expect(world.platform.posts.map(({ messageId, to }) => `${messageId} ${to}`).sort()).toEqual(expected.sort());
    expect(expected).toHaveLength(size);
    expect(Math.max(...sent)).toBeLessThan(queueMessageMaxBytes / 4);
    checkWorld(world);
  },
  60_000,
);
