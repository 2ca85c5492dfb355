import { describe, expect, test } from 'vitest';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { repliedToFinder } from '../../../../lib/messages/inbound/find-replied-to.ts';
import { replyPayload } from '../../../../lib/messages/reply-payload.ts';
import type { Reply } from '../../../../lib/platform/webhook/person-updates.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

const dispatches = { own: 'A', ofOtherWaba: 'B', ofOtherNumber: 'C', unreadable: 'D', gone: 'E' } as const;
const idOf = (dispatch: keyof typeof dispatches) => dispatches[dispatch].repeat(26);
const head = makeDispatchHead({ dispatchId: idOf('own'), total: 100 });
const number = { wabaId: head.wabaId, phoneNumberId: head.phoneNumberId };
const heads = new Map<string, DispatchHead | 'unreadable'>([
  [head.dispatchId, head],
  [idOf('ofOtherWaba'), { ...head, dispatchId: idOf('ofOtherWaba'), wabaId: '9' }],
  [idOf('ofOtherNumber'), { ...head, dispatchId: idOf('ofOtherNumber'), phoneNumberId: '9' }],
  [idOf('unreadable'), 'unreadable'],
]);

/** In this index every dispatch, named by a letter, has sent a message. */
const find = repliedToFinder({
  findHeads: async () => heads,
  findSentId: async ({ platformMessageId, ...of }) => {
    const dispatch = dispatches[platformMessageId as keyof typeof dispatches];
    const isKnown = dispatch !== undefined && of.phoneNumberId === head.phoneNumberId;
    return isKnown ? { dispatchId: dispatch.repeat(26), index: 5 } : undefined;
  },
});

const tap = (dispatch: keyof typeof dispatches, index = 7): Reply => {
  return { by: 'quick_reply', text: 'More', payload: replyPayload(`${idOf(dispatch)}-${index}`, { button: 0 }) };
};

test('a tap is known by its payload, also where the platform leaves out what it answers', async () => {
  expect(await find(tap('own'), number)).toEqual({ head, index: 7 });
  expect(await find({ ...tap('own'), toMessageId: 'own' }, number)).toEqual({ head, index: 7 });
});

test.each<[string, Reply]>([
  ['a text', { by: 'text', text: 'When?' }],
  ['a tap on a message without our payload', { by: 'quick_reply', text: 'More', payload: 'More' }],
  ['a form', { by: 'flow', text: 'Sent', payload: '{}' }],
])('%s is known by the id of the message that it answers', async (_, reply) => {
  expect(await find({ ...reply, toMessageId: 'own' }, number)).toEqual({ head, index: 5 });
  expect(await find({ ...reply, toMessageId: 'wamid.of-others' }, number)).toBeUndefined();
  expect(await find(reply, number)).toBeUndefined();
});

describe('a payload, which any person can send, names only messages of the number', () => {
  test.each<[string, Reply]>([
    ['a dispatch of another WABA', tap('ofOtherWaba')],
    ['a dispatch of another number of the WABA', tap('ofOtherNumber')],
    ['a dispatch that there is not any more', tap('gone')],
    ['a dispatch that cannot be read', tap('unreadable')],
    ['a message beyond the last of its dispatch', tap('own', 100)],
    ['what an interactive message of another app has as its id', { ...tap('own'), by: 'button' }],
    ['a text of that wording', { by: 'text', text: String(tap('own').payload) }],
  ])('%s', async (_, reply) => {
    expect(await find(reply, number)).toBeUndefined();
    expect(await find({ ...reply, toMessageId: 'own' }, number)).toEqual({ head, index: 5 });
  });

  test('the last message of a dispatch is one', async () => {
    expect(await find(tap('own', 99), number)).toEqual({ head, index: 99 });
  });
});

test.each(['ofOtherWaba', 'ofOtherNumber', 'gone', 'unreadable'] as const)(
  'an entry of the index that leads to a dispatch which is %s says nothing',
  async (dispatch) => {
    expect(await find({ by: 'text', text: 'When?', toMessageId: dispatch }, number)).toBeUndefined();
  },
);
