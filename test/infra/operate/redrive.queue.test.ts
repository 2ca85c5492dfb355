import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  type ReceiveMessageCommandOutput,
  type SendMessageBatchCommandInput,
  type SendMessageBatchCommandOutput,
} from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, test } from 'vitest';
import { WouldChange } from '../../../infra/operate/command.ts';
import { redriveCommand } from '../../../infra/operate/send/redrive.ts';
import type { OpenQueue } from '../../../infra/operate/target.ts';
import type { QueueName } from '../../../infra/queues.ts';
import { queueBody } from '../../../lib/aws/queue-body.ts';
import { sendAtOnce } from '../../../lib/aws/sqs-batch.ts';
import type { DispatchHead } from '../../../lib/messages/dispatch/head.ts';
import { encodeSenderWake } from '../../../lib/messages/dispatch/sender-wake.ts';
import { encodeSmallRequest } from '../../../lib/messages/dispatch/small-request-message.ts';
import { countMessageOf } from '../../../lib/messages/spend/later-counts.ts';
import { makeDispatch, makeRecipients } from '../../support/made-dispatches.ts';
import { operatorAuditInMemory } from '../../support/operator-audit.ts';
import { freshQueue, localQueueClient } from '../../support/stores.ts';

const client = localQueueClient();
const nowMs = Date.parse('2026-11-26T12:00:00Z');
let queue: OpenQueue;
let deadLetters: OpenQueue;

/** The emulator forgets the groups of letters, so each letter gets its own back. */
let groups: (string | undefined)[] = [];
/** A busy queue refuses so many entries of the next batch. */
let refuses = 0;
/** Whether SQS deletes the first letter of a batch. */
let deletes = true;
client.middlewareStack.add(
  (next, context) => async (args) => {
    if (context.commandName === 'DeleteMessageBatchCommand' && !deletes) {
      return {
        response: {},
        output: { $metadata: {}, Failed: [{ Id: '0', Code: 'ServiceUnavailable', SenderFault: false }] },
      };
    }
    const input = args.input as Partial<SendMessageBatchCommandInput>;
    const refused =
      input.QueueUrl === queue.url && input.Entries?.[0] && 'MessageBody' in input.Entries[0] ? refuses : 0;
    if (refused > 0) input.Entries?.splice(0, refused);
    if (input.QueueUrl === queue.url) groups.push(...(input.Entries ?? []).map((entry) => entry.MessageGroupId));
    const reply = await next(args);
    const output = reply.output as Partial<ReceiveMessageCommandOutput & SendMessageBatchCommandOutput>;
    for (const { Attributes } of output.Messages ?? []) if (Attributes) Attributes.MessageGroupId = 'client-1001';
    if (refused > 0) output.Failed = [{ Id: '0', SenderFault: false, Code: 'ServiceUnavailable' }];
    return reply;
  },
  { step: 'initialize' },
);

/** The dead letters that a run has read; `showHidden` lets the time pass after which they can be seen again. */
let hidden: string[] = [];
let receives = 0;
let beforeReceive: (receive: number) => Promise<void>;
client.middlewareStack.add(
  (next) => async (args) => {
    const input = args.input as Partial<ReceiveMessageCommandInput>;
    if (input.QueueUrl !== deadLetters.url || input.VisibilityTimeout !== 120) return next(args);
    receives += 1;
    await beforeReceive(receives);
    const reply = await next(args);
    const { Messages = [] } = reply.output as ReceiveMessageCommandOutput;
    hidden.push(...Messages.map(({ ReceiptHandle = '' }) => ReceiptHandle));
    return reply;
  },
  { step: 'initialize' },
);

async function showHidden(): Promise<void> {
  for (; hidden.length > 0; hidden = hidden.slice(10)) {
    const Entries = hidden.slice(0, 10).map((ReceiptHandle, at) => ({
      ...{ Id: String(at), ReceiptHandle, VisibilityTimeout: 0 },
    }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: deadLetters.url, Entries }));
  }
}

const audited = operatorAuditInMemory();

beforeEach(async () => {
  audited.entries.length = 0;
  groups = [];
  refuses = 0;
  deletes = true;
  hidden = [];
  receives = 0;
  beforeReceive = async () => {};
  queue = { client, url: await freshQueue() };
  deadLetters = { client, url: await freshQueue() };
});

async function run(...typed: string[]) {
  const lines: string[] = [];
  const told: string[] = [];
  const pauses: number[] = [];
  const opened: (string | QueueName | undefined)[] = [];
  const error = await redriveCommand(
    typed,
    (stage, name) => {
      opened.push(stage, name);
      return { queue, deadLetters, audit: audited.audit };
    },
    {
      print: (line) => void lines.push(line),
      progress: (words, work) => work().finally(() => told.push(words())),
      nowMs: () => nowMs,
      pause: async (ms) => void pauses.push(ms),
    },
  ).catch((reason: unknown) => reason);
  return { lines, told, pauses, opened, error };
}

const die = (bodies: readonly string[], group = 'client-1001') =>
  sendAtOnce(
    deadLetters,
    bodies.map((body) => ({ body, group, delaySeconds: 0 })),
  );

const unreadable = (count: number) => Array.from({ length: count }, (_, at) => `no json ${at}`);
const request = (count: number, changes: Partial<DispatchHead> = {}) =>
  encodeSmallRequest({
    ...makeDispatch(makeRecipients(count), { acceptedAtMs: Date.now(), ...changes }),
    limitPerSecond: 80,
  });
const counting = (dispatchId: string) =>
  queueBody(countMessageOf({ dispatchId, clientId: 1001, acceptedAtMs: nowMs - 3_600_000 }, nowMs));
const wake = encodeSenderWake({ phoneNumberId: '3', part: 0, of: 1, delaySeconds: 0 });
const sync = JSON.stringify({ version: 1, walk: { id: 'w', turn: 1, after: 0 } });
const countings = (count: number) => Array.from({ length: count }, (_, at) => counting(`J${at}`));

async function waitingIn({ url }: OpenQueue): Promise<number> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
  );
  return Number(Attributes.ApproximateNumberOfMessages);
}

async function arrived({ url }: OpenQueue) {
  const bodies: (string | undefined)[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        ...{ QueueUrl: url, MaxNumberOfMessages: 10, VisibilityTimeout: 3_600 },
      }),
    );
    if (Messages.length === 0) return bodies;
    bodies.push(...Messages.map(({ Body: body }) => body));
  }
}

test('a dry run counts and says why it is safe; every letter stays and can be seen at once', async () => {
  await die([...countings(12), 'no json']);
  const { lines, error } = await run('counts');
  expect(error).toEqual(new WouldChange('nothing was sent: repeat with --yes; at 10 a second that takes 2 s'));
  expect(lines).toEqual([
    'counts: 13 dead letters',
    expect.stringMatching(/^the oldest was queued \d{4}-/),
    expect.stringMatching(/^again {3}12: counts of what dispatches cost: one that comes twice counts nothing twice/),
    expect.stringMatching(/^stays {3}1: not readable/),
  ]);
  expect([await waitingIn(deadLetters), await waitingIn(queue)]).toEqual([13, 0]);
  expect(audited.entries).toEqual([]);
});

test('a dry run that finds nothing to send again ends well', async () => {
  await die(unreadable(1));
  expect(await run('counts')).toMatchObject({ error: undefined });
  expect(await run('counts', '--json')).toMatchObject({ error: undefined });
  await die(countings(1));
  expect((await run('counts', '--json')).error).toMatchObject({ exitStatus: 3 });
});

test('with --yes they are in their queue, in their groups, in pace; what is not readable stays', async () => {
  await die([...countings(12), 'no json']);
  const { lines, pauses, opened } = await run('counts', '--yes', '--pace', '5', '--stage', 'prod');
  expect(opened).toEqual(['prod', 'counts']);
  expect(lines.at(-1)).toBe('12 sent again; 1 dead letters are left');
  const found = await arrived(queue);
  expect(found.toSorted()).toEqual(countings(12).toSorted());
  expect(new Set(groups)).toEqual(new Set(['client-1001']));
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(1_000);
  expect(await waitingIn(deadLetters)).toBe(1);
  const line = { what: 'command.redrive', on: { queue: 'counts', count: 13 } };
  expect(audited.entries).toMatchObject(['begun', 'done'].map((outcome) => ({ ...line, outcome })));
});

test('held letters that can be seen again do not end a long run before its last letter', async () => {
  await die(unreadable(20));
  // The emulator gives out first what could be seen first.
  beforeReceive = async (receive) => {
    if (receive !== 3) return;
    await showHidden();
    await die(countings(5));
  };
  expect((await run('counts', '--yes')).lines.at(-1)).toBe('5 sent again; 20 dead letters are left');
  expect([await waitingIn(queue), await waitingIn(deadLetters)]).toEqual([5, 20]);
});

test('a run ends that holds more letters than it reads before they can be seen again', async () => {
  await die(unreadable(12));
  beforeReceive = showHidden;
  expect((await run('counts', '--yes')).lines.at(-1)).toBe('0 sent again; 12 dead letters are left');
  expect(await waitingIn(deadLetters)).toBe(12);
});

test('a message that several letters carry counts once, and the letters are said; all go again', async () => {
  const again = request(10);
  await die([request(5, { dispatchId: 'I' }), again, again, request(1), request(4, { dispatchId: 'K' })]);
  const lines = [
    expect.stringMatching(/^the oldest/),
    expect.stringMatching(/^again {3}5 with 19 messages: .* whose messages may still leave/),
    expect.stringMatching(/^2 of them carry messages of another one.+ leave once$/),
  ];
  expect((await run('urgent')).lines.slice(1, 4)).toEqual(lines);
  expect((await run('urgent', '--yes')).lines.slice(1)).toEqual([...lines, '5 sent again; 0 dead letters are left']);
});

test('--at-most ends it, and the rest stays for the next run', async () => {
  await die(countings(12));
  expect((await run('counts', '--yes', '--at-most', '3')).lines.at(-1)).toBe('3 sent again; 9 dead letters are left');
  expect([await waitingIn(queue), await waitingIn(deadLetters)]).toEqual([3, 9]);
  await run('counts', '--yes');
  expect([await waitingIn(queue), await waitingIn(deadLetters)]).toEqual([12, 0]);
});

test('letters that die again meanwhile are not moved in a circle', async () => {
  await die(countings(3));
  // Everything that is sent dies at once.
  queue = deadLetters;
  expect((await run('counts', '--yes')).lines.at(-1)).toBe('3 sent again; 3 dead letters are left');
});

test('what the queue refuses stays, and the command ends with status 1', async () => {
  await die(countings(2));
  refuses = 1;
  const { lines, error } = await run('counts', '--yes');
  expect(lines.at(-1)).toBe('1 sent again; 1 dead letters are left');
  expect(error).toMatchObject({ exitStatus: 1, message: expect.stringContaining('1 were refused') });
  expect([await waitingIn(queue), await waitingIn(deadLetters)]).toEqual([1, 1]);
});

test('letters that a run that was ended hides are said, and no reason to think that all went', async () => {
  await die(countings(12));
  await client.send(
    new ReceiveMessageCommand({ QueueUrl: deadLetters.url, MaxNumberOfMessages: 5, VisibilityTimeout: 60 }),
  );
  const dry = await run('counts');
  expect(dry.lines).toContainEqual(expect.stringMatching(/^5 could not be seen: .+ in two minutes$/));
  const { lines, error } = await run('counts', '--yes');
  expect(lines.at(-2)).toBe('7 sent again; 5 dead letters are left');
  expect(lines.at(-1)).toMatch(/^5 could not be seen: another run holds them, .+ in two minutes$/);
  expect(error).toBeUndefined();
});

test.each([
  [['counts', '--yes'], countings(2)],
  [
    ['sync', '--drop', '--yes'],
    [sync, sync],
  ],
])('%j says which letters it could not delete', async (typed, letters) => {
  await die(letters);
  deletes = false;
  expect((await run(...typed)).error).toMatchObject({
    exitStatus: 1,
    message: '1 dead letters could not be deleted: the next run takes them again',
  });
  expect(audited.entries.at(-1)).toMatchObject({ outcome: 'failed' });
});

describe('what is of no use', () => {
  test('is not sent, and stays unless --drop is named', async () => {
    await die([wake]);
    expect((await run('dispatch', '--drop')).lines).toContainEqual(
      expect.stringMatching(/^drop {4}1: wakes of numbers/),
    );
    await run('dispatch', '--drop', '--yes');
    await die([sync, sync, 'no json']);
    expect((await run('sync', '--yes')).lines.at(-1)).toBe('0 sent again; 3 dead letters are left');
    expect((await run('sync', '--drop')).lines).toContainEqual(expect.stringMatching(/^drop {4}2: synchronizations/));
    expect(await waitingIn(deadLetters)).toBe(3);
    expect((await run('sync', '--drop', '--yes')).lines.at(-1)).toBe('2 deleted; 1 dead letters are left');
    expect(audited.entries.at(-1)).toMatchObject({ what: 'command.redrive_drop', outcome: 'done' });
    expect([await waitingIn(deadLetters), await waitingIn(queue)]).toEqual([1, 0]);
  });

  test('what could be sent again is never dropped', async () => {
    await die(countings(2));
    expect((await run('counts', '--drop', '--yes')).lines.at(-1)).toBe('0 deleted; 2 dead letters are left');
  });
});
