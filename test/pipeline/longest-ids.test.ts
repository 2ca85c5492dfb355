import { expect, test } from 'vitest';
import { queueMessageMaxBytes } from '../../lib/aws/queue-body.ts';
import { longestId } from '../support/made-dispatches.ts';
import { checkWorld } from './kept-promises.ts';
import { accept, quietWorld } from './quiet-world.ts';

test('a dispatch of 10,000 by user ids of the longest kind is sent whole, each message once, to its own id (D24)', async () => {
  const world = quietWorld({ limitPerSecond: 1_000, workers: 200 });
  const sent: number[] = [];
  const { dispatch: queue } = world.queues;
  const send = queue.send.bind(queue);
  queue.send = (body, delaySeconds) => {
    sent.push(Buffer.byteLength(body));
    send(body, delaySeconds);
  };
  const dispatchId = accept(world, 10_000, { addressOf: longestId });
  await world.run(3_600_000);
  const [{ dispatch } = { dispatch: undefined }] = world.accepted;
  const expected = dispatch?.recipients.map(({ to }, index) => `${dispatchId}-${index} ${to}`) ?? [];
  expect(world.platform.posts.map(({ messageId, to }) => `${messageId} ${to}`).sort()).toEqual(expected.sort());
  expect(expected).toHaveLength(10_000);
  expect(Math.max(...sent)).toBeLessThan(queueMessageMaxBytes / 4);
  checkWorld(world);
}, 60_000);
