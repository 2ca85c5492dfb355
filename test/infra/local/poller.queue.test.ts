import { setTimeout as wait } from 'node:timers/promises';
import type { SQSRecord } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import type { LocalEventSource } from '../../../infra/local/local-template.ts';
import { eventually, polledQueue } from '../../support/polled-queue.ts';

/** The long poll ends earlier, so a receive call that is still open becomes visible. */
const longerThanLongPollMs = 1_300;

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `message ${index}`);
const bodiesOf = (records: readonly SQSRecord[]) => records.map(({ body }) => body);
const empty = { waiting: 0, inFlight: 0, delayed: 0 };

async function readyQueue(...facts: Parameters<typeof polledQueue>) {
  const queue = await polledQueue(...facts);
  await queue.create();
  /** Returns the bodies of each batch, from a function that only collects them. */
  const collect = (source: Partial<LocalEventSource> = {}): readonly (readonly string[])[] => {
    const batches: string[][] = [];
    queue.poll((records) => void batches.push(bodiesOf(records)), source);
    return batches;
  };
  return { ...queue, collect };
}

describe('the event', () => {
  test('has the fields of the real one (the emulator forgets MessageGroupId; the unit test has it)', async () => {
    const queue = await readyQueue();
    const seen: SQSRecord[] = [];
    queue.poll((records) => {
      seen.push(...records);
    });
    const kind = { DataType: 'String', StringValue: 'dispatch' };
    await queue.send(['hello'], { MessageAttributes: { kind } });
    await eventually(() => expect(seen).toHaveLength(1));
    expect(seen[0]).toEqual({
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      receiptHandle: expect.stringMatching(/./),
      body: 'hello',
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
        SenderId: expect.stringMatching(/./),
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
      },
      messageAttributes: {
        kind: { stringValue: 'dispatch', stringListValues: [], binaryListValues: [], dataType: 'String' },
      },
      md5OfBody: '5d41402abc4b2a76b9719d911017c592',
      md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
      eventSource: 'aws:sqs',
      eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${queue.name}`,
      awsRegion: 'us-east-1',
    });
    await eventually(async () => expect(await queue.counts()).toEqual(empty));
  });

  test('never exceeds the batch size nor the payload limit of Lambda', async () => {
    const queue = await readyQueue();
    await queue.send([...numbered(5), ...Array.from({ length: 7 }, () => 'x'.repeat(100_000))]);
    for (let count = 0; count < 7; count += 1) await queue.send(['y'.repeat(1_000_000)]);
    const batches: (readonly SQSRecord[])[] = [];
    queue.poll((records) => {
      batches.push(records);
    });
    await eventually(async () => expect(await queue.counts()).toEqual(empty));
    expect(batches.flat()).toHaveLength(19);
    for (const batch of batches) {
      expect(batch.length).toBeLessThanOrEqual(10);
      expect(Buffer.byteLength(JSON.stringify({ Records: batch }))).toBeLessThanOrEqual(6_291_556);
    }
  });

  test('a message with DelaySeconds, its own or that of the queue, comes later', async () => {
    const queue = await readyQueue({ delaySeconds: 2 });
    const batches = queue.collect();
    const seen = () => batches.flat();
    await queue.send(['by the queue']);
    await queue.send(['by itself'], { DelaySeconds: 3 });
    await queue.send(['at once'], { DelaySeconds: 0 });
    await eventually(() => expect(seen()).toEqual(['at once']));
    expect(await queue.counts()).toMatchObject({ delayed: 2 });
    await eventually(() => expect(seen()).toEqual(['at once', 'by the queue', 'by itself']));
  });
});

describe('the batching window', () => {
  test('holds a batch open for messages that come later', async () => {
    const queue = await readyQueue();
    const batches = queue.collect({ windowSeconds: 5, batchSize: 2 });
    await queue.send(['first']);
    await eventually(async () => expect(await queue.counts()).toMatchObject({ inFlight: 1 }));
    await queue.send(['second']);
    await eventually(() => expect(batches).toEqual([['first', 'second']]));
  });

  test('ends by itself when the batch stays short', async () => {
    const queue = await readyQueue();
    const batches = queue.collect({ windowSeconds: 1 });
    await queue.send(['alone']);
    await eventually(() => expect(batches).toEqual([['alone']]));
  });

  test('gathers more than ten messages and deletes them all', async () => {
    const queue = await readyQueue();
    await queue.send(numbered(25));
    const batches = queue.collect({ windowSeconds: 20, batchSize: 25 });
    await eventually(async () => expect(await queue.counts()).toEqual(empty));
    expect(batches.map((batch) => batch.toSorted())).toEqual([numbered(25).toSorted()]);
  });
});

test('a batch that fills an invocation does not wait for its window to end', async () => {
  const queue = await readyQueue();
  // Seven messages of 900 KB are over the limit of one invocation, 6 MB.
  for (let sent = 0; sent < 8; sent += 1) await queue.send(['x'.repeat(900_000)]);
  const batches: number[] = [];
  queue.poll(
    (records) => {
      batches.push(records.length);
    },
    // The window is longer than the test waits.
    { windowSeconds: 300, batchSize: 500 },
  );
  await eventually(() => expect(batches[0]).toBeGreaterThanOrEqual(6));
});

describe('failures', () => {
  test('R18: a poisoned record fails alone and ends in the dead-letter queue after maxReceiveCount', async () => {
    const queue = await readyQueue({ maxReceiveCount: 3 });
    await queue.send([...numbered(9), 'poison']);
    const seen: SQSRecord[] = [];
    queue.poll(async (records) => {
      seen.push(...records);
      const poisoned = records.filter(({ body }) => body === 'poison');
      for (const record of poisoned) await queue.makeVisible(record);
      return { batchItemFailures: poisoned.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    });
    await eventually(async () => expect(await queue.counts(queue.dead)).toMatchObject({ waiting: 1 }));
    expect(await queue.counts()).toEqual(empty);
    const receives = (text: string) =>
      seen.filter(({ body }) => body === text).map(({ attributes }) => attributes.ApproximateReceiveCount);
    expect(receives('poison')).toEqual(['1', '2', '3']);
    for (const text of numbered(9)) expect(receives(text)).toEqual(['1']);
  });

  test.each<[string, boolean, () => unknown]>([
    ['an unknown identifier', true, () => ({ batchItemFailures: [{ itemIdentifier: 'not of this batch' }] })],
    ['a thrown error', true, () => Promise.reject(new Error('thrown'))],
    ['a thrown error without reportBatchItemFailures', false, () => Promise.reject(new Error('thrown'))],
  ])('%s brings the whole batch again', async (what, reportBatchItemFailures, answer) => {
    const queue = await readyQueue();
    await queue.send(numbered(10));
    const seen: SQSRecord[] = [];
    const reports: string[] = [];
    queue.poll(
      async (records) => {
        seen.push(...records);
        const first = records.filter(({ attributes }) => attributes.ApproximateReceiveCount === '1');
        for (const record of first) await queue.makeVisible(record);
        return first.length === 0 ? undefined : answer();
      },
      { reportBatchItemFailures },
      { maximumInstances: () => 1, nameOf: (id) => `the ${id}`, report: (line) => reports.push(line) },
    );
    await eventually(async () => expect(await queue.counts()).toEqual(empty));
    const thrown = ['the worker failed (threw); its batch of 10 comes again'];
    expect(reports).toEqual(what.startsWith('a thrown error') ? thrown : []);
    const twice = numbered(10).flatMap((text) => [`${text}: 1`, `${text}: 2`]);
    const deliveries = seen.map(({ body, attributes }) => `${body}: ${attributes.ApproximateReceiveCount}`);
    expect(deliveries.toSorted()).toEqual(twice.toSorted());
  });

  const naming = (...identifiers: string[]) => ({
    batchItemFailures: identifiers.map((itemIdentifier) => ({ itemIdentifier })),
  });
  test.each<[string, number, (ids: readonly string[]) => unknown]>([
    ['no answer', 0, () => undefined],
    ['one failure', 1, ([first = '']) => naming(first)],
    ['a thrown error', 3, () => Promise.reject(new Error('thrown'))],
  ])('after %s, %i of three messages are left to their visibility time-out, the others deleted', async (...row) => {
    const [, left, answer] = row;
    const queue = await readyQueue();
    await queue.send(numbered(3));
    const handled = Promise.withResolvers<void>();
    const poller = queue.poll((records) => {
      handled.resolve();
      return answer(records.map(({ messageId }) => messageId));
    });
    await handled.promise;
    await poller.pause();
    expect(await queue.counts()).toEqual({ ...empty, inFlight: left });
  });

  test('without reportBatchItemFailures the list means nothing', async () => {
    const queue = await readyQueue();
    await queue.send(['message']);
    const answer = (records: readonly SQSRecord[]) => ({
      batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })),
    });
    queue.poll(answer, { reportBatchItemFailures: false });
    await eventually(async () => expect(await queue.counts()).toEqual(empty));
  });

  test('a failed message comes again by itself after the visibility time-out', async () => {
    const queue = await readyQueue({ visibilityTimeoutSeconds: 1 });
    await queue.send(['message']);
    const counts: string[] = [];
    queue.poll((records) => {
      counts.push(...records.map(({ attributes }) => attributes.ApproximateReceiveCount));
      if (counts.length === 1) throw new Error('thrown');
    });
    await eventually(() => expect(counts.slice(0, 2)).toEqual(['1', '2']));
  });

  test('a queue server in trouble is reported and tried again', async () => {
    const queue = await polledQueue();
    const reports: string[] = [];
    const seen: string[] = [];
    const collect = (records: readonly SQSRecord[]) => {
      seen.push(...bodiesOf(records));
    };
    queue.poll(collect, {}, { report: (line) => reports.push(line) });
    await eventually(() => expect(reports[0]).toMatch(/^receiving from queue-\S+ failed: QueueDoesNotExist/));
    await queue.create();
    await queue.send(['message']);
    await eventually(() => expect(seen).toEqual(['message']));
  });

  test('a runner that rejects is a failed invocation, reported, and the next one is tried', async () => {
    const queue = await readyQueue();
    await queue.send(['message']);
    const reports: string[] = [];
    const runner = { invoke: () => Promise.reject(new Error('no such function')) };
    queue.poll(() => undefined, {}, { runner, report: (line) => reports.push(line) });
    await eventually(() => expect(reports).toHaveLength(1));
    await queue.send(['another']);
    await eventually(() => expect(reports).toHaveLength(2));
    expect(reports[0]).toBe('worker failed (Error: no such function); its batch of 1 comes again');
    expect(await queue.counts()).toMatchObject({ inFlight: 2 });
  });
});

describe('concurrency', () => {
  test.each([
    { maximumConcurrency: 3, maximumInstances: 8, expected: 3 },
    { maximumConcurrency: 8, maximumInstances: 2, expected: 2 },
    { maximumConcurrency: undefined, maximumInstances: undefined, expected: 4 },
  ])('of $maximumConcurrency and $maximumInstances instances: $expected', async (limits) => {
    const { maximumConcurrency, maximumInstances, expected } = limits;
    const queue = await readyQueue();
    await queue.send(numbered(40));
    let running = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    queue.poll(
      async () => {
        running += 1;
        most = Math.max(most, running);
        if (running === expected) full.resolve();
        await full.promise;
        await wait(20);
        running -= 1;
      },
      { batchSize: 1, maximumConcurrency },
      maximumInstances === undefined ? {} : { maximumInstances: () => maximumInstances },
    );
    await full.promise;
    await eventually(async () => expect(await queue.counts()).toEqual(empty));
    expect(most).toBe(expected);
  });

  test('a function that is slow with one message does not hold up the next', async () => {
    const queue = await readyQueue();
    const slow = Promise.withResolvers<void>();
    const seen: string[] = [];
    queue.poll(async (records) => {
      seen.push(...bodiesOf(records));
      if (seen.length === 1) await slow.promise;
    });
    await queue.send(['slow']);
    await eventually(() => expect(seen).toEqual(['slow']));
    await queue.send(['next']);
    await eventually(() => expect(seen).toEqual(['slow', 'next']));
    slow.resolve();
  });

  test('an idle queue is asked by one receive at a time, after a busy hour too', async () => {
    const queue = await readyQueue();
    let receiving = 0;
    let most = 0;
    queue.client.middlewareStack.add(
      (next, { commandName }) =>
        async (call) => {
          if (commandName !== 'ReceiveMessageCommand') return next(call);
          receiving += 1;
          most = Math.max(most, receiving);
          return next(call).finally(() => {
            receiving -= 1;
          });
        },
      { step: 'initialize' },
    );
    await queue.send(numbered(100));
    queue.poll(() => wait(5));
    await eventually(async () => expect(await queue.counts()).toEqual(empty));
    expect(most).toBeGreaterThan(1);
    await wait(longerThanLongPollMs);
    most = 0;
    await wait(longerThanLongPollMs);
    expect(most).toBe(1);
  });

  test('10,000 messages are handed over and deleted exactly once each', async () => {
    const queue = await readyQueue();
    await queue.send(numbered(10_000));
    const deliveries = new Map<string, number>();
    queue.poll(
      (records) => {
        for (const { body } of records) deliveries.set(body, (deliveries.get(body) ?? 0) + 1);
        return { batchItemFailures: [] };
      },
      { maximumConcurrency: 20 },
    );
    await eventually(async () => expect(await queue.counts()).toEqual(empty));
    expect(deliveries.size).toBe(10_000);
    expect(new Set(deliveries.values())).toEqual(new Set([1]));
  });
});

describe('pausing and stopping', () => {
  test('while paused nothing is received; after resume it goes on', async () => {
    const queue = await readyQueue();
    const seen: string[] = [];
    const poller = queue.poll((records) => {
      seen.push(...bodiesOf(records));
    });
    await poller.pause();
    await queue.send(['message']);
    await wait(longerThanLongPollMs);
    expect(await queue.counts()).toEqual({ ...empty, waiting: 1 });
    poller.resume();
    await eventually(() => expect(seen).toEqual(['message']));
  });

  test('pause waits for what is in flight', async () => {
    const queue = await readyQueue();
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const poller = queue.poll(async () => {
      started.resolve();
      await release.promise;
    });
    await queue.send(['message']);
    await started.promise;
    const paused = poller.pause();
    release.resolve();
    await paused;
    expect(await queue.counts()).toEqual(empty);
  });

  test('stop leaves no receive behind that would swallow a later message', async () => {
    const queue = await readyQueue();
    const poller = queue.poll(() => undefined);
    await queue.send(numbered(30));
    await eventually(async () => expect(await queue.counts()).toEqual(empty));
    await poller.stop();
    poller.resume();
    await queue.send(['later']);
    await wait(longerThanLongPollMs);
    expect(await queue.counts()).toEqual({ ...empty, waiting: 1 });
  });

  test('stop does not wait for a function that hangs; its message is not deleted and comes again', async () => {
    const queue = await readyQueue();
    const started = Promise.withResolvers<void>();
    const hanging = Promise.withResolvers<void>();
    const poller = queue.poll(async () => {
      started.resolve();
      await hanging.promise;
    });
    await queue.send(['message']);
    await started.promise;
    await poller.stop(0);
    hanging.resolve();
    await wait(longerThanLongPollMs);
    expect(await queue.counts()).toEqual({ ...empty, inFlight: 1 });
  });
});
