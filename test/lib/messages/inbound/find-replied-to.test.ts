import { describe, expect, test } from 'vitest';
import { repliedToFinder } from '../../../../lib/messages/inbound/find-replied-to.ts';
import type { JobHead } from '../../../../lib/messages/job.ts';
import { replyPayload } from '../../../../lib/messages/reply-payload.ts';
import type { Reply } from '../../../../lib/platform/webhook/person-updates.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';

const jobs = { own: 'A', ofOtherWaba: 'B', ofOtherNumber: 'C', unreadable: 'D', gone: 'E' } as const;
const idOf = (job: keyof typeof jobs) => jobs[job].repeat(26);
const head = makeJobHead({ jobId: idOf('own'), total: 100 });
const number = { wabaId: head.wabaId, phoneNumberId: head.phoneNumberId };
const heads = new Map<string, JobHead | 'unreadable'>([
  [head.jobId, head],
  [idOf('ofOtherWaba'), { ...head, jobId: idOf('ofOtherWaba'), wabaId: '9' }],
  [idOf('ofOtherNumber'), { ...head, jobId: idOf('ofOtherNumber'), phoneNumberId: '9' }],
  [idOf('unreadable'), 'unreadable'],
]);

/** In this index every job, named by a letter, has sent a message. */
const find = repliedToFinder({
  findHeads: async () => heads,
  findSentId: async ({ platformMessageId, ...of }) => {
    const job = jobs[platformMessageId as keyof typeof jobs];
    const isKnown = job !== undefined && of.phoneNumberId === head.phoneNumberId;
    return isKnown ? { jobId: job.repeat(26), index: 5 } : undefined;
  },
});

const tap = (job: keyof typeof jobs, index = 7): Reply => {
  return { by: 'quick_reply', text: 'More', payload: replyPayload(`${idOf(job)}-${index}`, { button: 0 }) };
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
    ['a job of another WABA', tap('ofOtherWaba')],
    ['a job of another number of the WABA', tap('ofOtherNumber')],
    ['a job that there is not any more', tap('gone')],
    ['a job that cannot be read', tap('unreadable')],
    ['a message beyond the last of its job', tap('own', 100)],
    ['what an interactive message of another app has as its id', { ...tap('own'), by: 'button' }],
    ['a text of that wording', { by: 'text', text: String(tap('own').payload) }],
  ])('%s', async (_, reply) => {
    expect(await find(reply, number)).toBeUndefined();
    expect(await find({ ...reply, toMessageId: 'own' }, number)).toEqual({ head, index: 5 });
  });

  test('the last message of a job is one', async () => {
    expect(await find(tap('own', 99), number)).toEqual({ head, index: 99 });
  });
});

test.each(['ofOtherWaba', 'ofOtherNumber', 'gone', 'unreadable'] as const)(
  'an entry of the index that leads to a job which is %s says nothing',
  async (job) => {
    expect(await find({ by: 'text', text: 'When?', toMessageId: job }, number)).toBeUndefined();
  },
);
