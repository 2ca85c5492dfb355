import { expect, test } from 'vitest';
import { type Posting, platformMessages, readyToCall } from '../../../../lib/messages/send/platform-messages.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { PlatformCall } from '../../../../lib/platform/transport.ts';

const posting: Posting = {
  wabaId: '200000000000001',
  phoneNumberId: '300000000000001',
  path: 'messages',
  credential: 'main',
  request: { to: '5491100000000' },
};
const credentialOf = async () => ({ accessToken: 'token-1' });

function answering(body: Record<string, unknown>) {
  const calls: PlatformCall[] = [];
  const send = platformMessages(async (call) => {
    calls.push(call);
    return { body };
  }, credentialOf);
  return { send, calls };
}

test.each(['messages', 'marketing_messages'] as const)(
  'posts the request once to /%s and returns the id (D30)',
  async (path) => {
    const { send, calls } = answering({ messages: [{ id: 'platform-1', message_status: 'accepted' }] });
    expect(await send({ ...posting, path })).toEqual({
      platformMessageId: 'platform-1',
      messageStatus: 'accepted',
    });
    expect(calls).toEqual([
      {
        method: 'POST',
        path: `300000000000001/${path}`,
        body: { to: '5491100000000' },
        accessToken: 'token-1',
        wabaId: '200000000000001',
      },
    ]);
  },
);

test.each<[string, unknown, string | undefined]>([
  ['held', 'held_for_quality_assessment', 'held_for_quality_assessment'],
  ['paused', 'paused', 'paused'],
  ['left out', undefined, undefined],
  ['no text', 7, 'unreadable'],
  ['endless', 'x'.repeat(1_000), 'x'.repeat(64)],
])('a message whose status is %s was taken all the same (D39)', async (_what, status, told) => {
  const { send } = answering({ messages: [{ id: 'platform-1', message_status: status }] });
  expect(await send(posting)).toEqual({
    platformMessageId: 'platform-1',
    messageStatus: told,
  });
});

test.each<[string, unknown, string | undefined]>([
  ['a number', [{ input: '+5215512345678', wa_id: '525512345678' }], '525512345678'],
  ['a user id', [{ input: 'US.1', user_id: 'US.1' }], undefined],
  ['no digits', [{ wa_id: 'none' }], undefined],
  ['none', [], undefined],
  ['no list', 'none', undefined],
])('tells how the platform spells the person: %s (D55)', async (_what, contacts, waId) => {
  const { send } = answering({ contacts, messages: [{ id: 'platform-1', message_status: 'accepted' }] });
  expect(await send(posting)).toEqual({
    ...{ platformMessageId: 'platform-1', messageStatus: 'accepted' },
    waId,
  });
});

test.each([{}, { messages: [] }, { messages: [{}] }, { messages: [{ id: '' }] }])(
  'a success without a message id is ambiguous: %j',
  async (body) => {
    const facts = { httpStatus: 200 };
    await expect(answering(body).send(posting)).rejects.toMatchObject({ kind: 'ambiguous', facts });
  },
);

test('a credential that cannot be read proves that nothing was sent', async () => {
  const calls: unknown[] = [];
  const away = new Error('Secrets Manager is away');
  const send = platformMessages(
    async (call) => {
      calls.push(call);
      return { body: {} };
    },
    async () => Promise.reject(away),
  );
  const failure = await send(posting).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PlatformFailure);
  expect(failure).toMatchObject({ kind: 'not_sent', cause: away });
  expect(calls).toEqual([]);
});

test('a message that waits for its turn has its credential read by then; one that cannot be read is for the call to tell', async () => {
  const read: string[] = [];
  const ready = readyToCall(async (name) => {
    read.push(name);
    await Promise.reject(new Error('no secret'));
  });
  expect(await ready({ credential: 'main' })).toBeUndefined();
  expect(read).toEqual(['main']);
});
