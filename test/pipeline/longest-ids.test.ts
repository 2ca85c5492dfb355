import { expect, test } from 'vitest';
import { queueMessageMaxBytes } from '../../lib/aws/queue-body.ts';
import { longestId } from '../support/send-jobs.ts';
import { checkWorld } from './kept-promises.ts';
import { accept, quietWorld } from './quiet-world.ts';

test('a job of 10,000 by user ids of the longest kind is sent whole, each message once, to its own id (D24)', async () => {
  const world = quietWorld({ limitPerSecond: 1_000, workers: 200 });
  const sent: number[] = [];
  const { dispatch } = world.queues;
  const send = dispatch.send.bind(dispatch);
  dispatch.send = (body, delaySeconds) => {
    sent.push(Buffer.byteLength(body));
    send(body, delaySeconds);
  };
  const jobId = accept(world, 10_000, { addressOf: longestId });
  await world.run(3_600_000);
  const [{ job } = { job: undefined }] = world.accepted;
  const expected = job?.recipients.map(({ to }, index) => `${jobId}-${index} ${to}`) ?? [];
  expect(world.platform.posts.map(({ dispatchId, to }) => `${dispatchId} ${to}`).sort()).toEqual(expected.sort());
  expect(expected).toHaveLength(10_000);
  expect(Math.max(...sent)).toBeLessThan(queueMessageMaxBytes / 4);
  checkWorld(world);
}, 60_000);
