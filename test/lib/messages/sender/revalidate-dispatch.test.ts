import { expect, test } from 'vitest';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import type { StoredDispatch } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { revalidateDispatch } from '../../../../lib/messages/sender/revalidate-dispatch.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { body, makeTemplate } from '../../../support/platform-templates.ts';

/** The template of a scheduled send is judged again right before its messages are released (D56, R54). */

const plan = { templateName: 'order_update', languageCode: 'en_US', buttons: [], cards: [] };

interface Stored {
  readonly template?: Partial<PlatformTemplate>;
  readonly deleted?: boolean;
  readonly active?: boolean;
  readonly channel?: Parameters<typeof makeChannel>[0];
  readonly waba?: Parameters<typeof makeWaba>[0];
  readonly nothing?: true;
  readonly head?: Partial<DispatchHead>;
  readonly header?: StoredDispatch['header'];
}

function judged({ template, deleted = false, active = true, nothing, ...more }: Stored) {
  const head = makeDispatchHead(more.head);
  const dispatch: StoredDispatch = {
    head,
    plan,
    repeats: [],
    waitsMs: new Map(),
    ...(more.header && { header: more.header }),
  };
  const { wabaId } = head;
  const { components = [body('Hello')], ...rest } = template ?? {};
  const fact = {
    ...{ wabaId, deleted, readAtMs: 1, sinceMs: 1 },
    template: makeTemplate(components, { name: 'order_update', category: 'MARKETING', ...rest }),
  };
  return revalidateDispatch(dispatch, {
    directory: memoryDirectory({ channels: [makeChannel(more.channel)], wabas: [makeWaba(more.waba)] }),
    templates: {
      find: async () => (nothing ? undefined : { fact, client: { clientId: 1001, active, documents: [] } }),
    },
  });
}

test.each([
  ['deleted', { deleted: true }, 'template_deleted'],
  ['being deleted at the platform', { template: { status: 'PENDING_DELETION' } }, 'template_deleted'],
  ['switched off by the client', { active: false }, 'template_switched_off'],
  ['of a kind that is not sent', { template: { parameter_format: 'NAMED' } }, 'template_changed'],
  [
    'with a header that the request had none for',
    { template: { components: [{ type: 'HEADER', format: 'IMAGE' }, body('Hello')] } },
    'template_changed',
  ],
  [
    'without the header that the request had',
    { header: { type: 'image_url', value: 'https://example.com/a.png' } },
    'template_changed',
  ],
  ['of a channel that is another client', { channel: { clientId: 1002 }, waba: { dids: 'own' } }, 'channel_removed'],
  ['of a WABA that is not the client any more', { waba: { clientIds: [1002] } }, 'channel_removed'],
  ['of a DID that is gone', { channel: { did: '5491100000009' } }, 'channel_removed'],
  ['of a DID that is another number now', { channel: { phoneNumberId: '300000000000009' } }, 'channel_removed'],
] as const satisfies readonly (readonly [string, Stored, string])[])(
  'one %s fails for all',
  async (_, stored, code) => {
    expect(await judged(stored)).toMatchObject({ kind: 'refused', stop: { state: 'failed', code } });
  },
);

test.each(['PAUSED', 'PENDING', 'REJECTED', 'DISABLED'])(
  'one that is %s is for the platform to say',
  async (status) => {
    expect(await judged({ template: { status } })).toMatchObject({ kind: 'sendable' });
  },
);

test('of one that is not stored nothing is known: it goes as accepted', async () => {
  expect(await judged({ nothing: true })).toMatchObject({ kind: 'sendable', plan });
});

test.each([{ nothing: true }, {}] as const)(
  'calls are made with the credential that the WABA has by then: %j',
  async (stored) => {
    const waba = { credential: 'renewed' };
    expect(await judged({ ...stored, waba, head: { credential: 'main' } })).toMatchObject({
      head: { credential: 'renewed' },
    });
  },
);

test('what no longer fits fails for its recipient alone; what was erased is no question', async () => {
  const judgement = await judged({ template: { components: [body('Hello {{1}}')] } });
  if (judgement.kind !== 'sendable') throw new Error('it is sent');
  const fits = [{ to: '1', params: { body: ['Ana'] } }, { to: '2' }, {}].map(judgement.fits);
  expect(fits).toEqual([true, false, true]);
});

test('messages are composed and counted by the template of today', async () => {
  const header = { type: 'image_url', value: 'https://example.com/a.png' } as const;
  const template: Partial<PlatformTemplate> = {
    category: 'UTILITY',
    components: [{ type: 'HEADER', format: 'IMAGE' }, body('Hello')],
  };
  const head = { heedsOptOuts: true, path: 'marketing_messages' } as const;
  const judgement = await judged({ template, header, head });
  expect(judgement).toMatchObject({
    kind: 'sendable',
    head: { category: 'UTILITY', path: 'messages' },
    plan: { header },
  });
  expect(judgement).not.toHaveProperty('head.heedsOptOuts');
  const stops = { utilityStops: [1001] };
  expect(await judged({ template, header, waba: stops })).toMatchObject({ head: { heedsOptOuts: true } });
});

test.each([
  [{ optimization_spec: {} }, 'messages', 'marketing_messages'],
  [{ message_send_ttl_seconds: 900 }, 'marketing_messages', 'marketing_messages'],
  [{ message_send_ttl_seconds: 900 }, 'messages', 'messages'],
  [{}, 'marketing_messages', 'messages'],
] as const)('the path follows the template: %j, %s before, is %s (D30)', async (changes, path, now) => {
  expect(await judged({ template: changes, head: { path } })).toMatchObject({ head: { path: now } });
});

test('a table that cannot be read fails the round: nothing is judged by a guess', async () => {
  const dispatch = { head: makeDispatchHead(), plan, repeats: [], waitsMs: new Map() };
  const broken = () => Promise.reject(new Error('no table'));
  const directory = memoryDirectory({ channels: [makeChannel()], wabas: [makeWaba()] });
  await expect(revalidateDispatch(dispatch, { directory, templates: { find: broken } })).rejects.toThrow('no table');
  const templates = { find: async () => undefined };
  await expect(revalidateDispatch(dispatch, { directory: { findDid: broken }, templates })).rejects.toThrow('no table');
});
