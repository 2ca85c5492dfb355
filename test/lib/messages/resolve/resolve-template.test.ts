import { describe, expect, test } from 'vitest';
import { warningOf } from '../../../../lib/messages/accept/send-warnings.ts';
import { resolveTemplate } from '../../../../lib/messages/resolve/resolve-template.ts';
import type { ClientTemplate } from '../../../../lib/templates/model/template.ts';
import { templateKey } from '../../../../lib/templates/model/template-key.ts';
import { sendable } from '../../../support/platform-templates.ts';
import {
  contract,
  minute,
  nowMs,
  paused,
  renewed,
  setup,
  stored,
  throttled,
  unreachable,
  waba,
  wanted,
} from './stored-template.ts';

test('a copy younger than 5 minutes is used without asking', async () => {
  const { ports, asked } = setup(stored(5 * minute - 1), renewed);
  expect(await resolveTemplate(wanted, ports)).toEqual({ template: sendable.order, contract, storedCopyUsed: false });
  expect(asked).toEqual([]);
});

test('a copy that the request has read already counts once: after a wait the table is read', async () => {
  const { ports, asked, questions } = setup(stored(0, false, renewed), unreachable);
  const read = stored(minute);
  expect(await resolveTemplate({ ...wanted, read }, ports)).toMatchObject({ template: sendable.order });
  const old = stored(5 * minute);
  const key = `renewal ${templateKey({ ...wanted, wabaId: '2' })}`;
  await questions.claim(key, { askerId: 'J0', nowMs, changedAtMs: old.fact.readAtMs });
  expect(await resolveTemplate({ ...wanted, read: old }, ports)).toMatchObject({
    ...{ template: renewed, storedCopyUsed: false },
  });
  expect(asked).toEqual([]);
});

test.each([
  ['an older copy', stored(5 * minute)],
  ['an old deletion', stored(5 * minute, true)],
  ['a deletion of a minute ago', stored(minute, true)],
  ['a copy of a minute ago that cannot be sent', stored(minute, false, paused)],
  ['no copy', undefined],
])('%s is read from the platform and stored for every client of the WABA', async (_what, found) => {
  const { ports, asked, refreshed } = setup(found, renewed);
  expect(await resolveTemplate(wanted, ports)).toEqual({ template: renewed, contract, storedCopyUsed: false });
  expect(asked).toEqual([[waba, { name: 'order_update', language: 'en_US' }]]);
  expect(refreshed).toEqual([[{ wabaId: '2', clientIds: [1001, 1002] }, renewed, nowMs]]);
});

test.each([
  ['unreachable', unreachable],
  ['throttling', throttled],
])('an old copy is used while the platform is %s', async (_what, failure) => {
  const { ports, refreshed } = setup(stored(60 * minute), failure);
  expect(await resolveTemplate(wanted, ports)).toEqual({ template: sendable.order, contract, storedCopyUsed: true });
  expect(refreshed).toEqual([]);
});

test.each([
  ['deleted a minute ago, and the platform says so', stored(minute, true), undefined, 404, 'template_not_found'],
  ['paused a minute ago, as the platform says', stored(minute, false, paused), paused, 422, 'template_not_sendable'],
  ['paused meanwhile', stored(60 * minute), paused, 422, 'template_not_sendable'],
  ['gone upstream', stored(60 * minute), undefined, 404, 'template_not_found'],
  ['still listed upstream, as deleted', undefined, { ...renewed, status: 'DELETED' }, 404, 'template_not_found'],
  ['unknown everywhere', undefined, undefined, 404, 'template_not_found'],
  ['deleted long ago, platform unreachable', stored(60 * minute, true), unreachable, 502, 'platform_unreachable'],
  ['paused a minute ago, no platform', stored(minute, false, paused), unreachable, 502, 'platform_unreachable'],
  ['paused a minute ago, platform throttling', stored(minute, false, paused), throttled, 429, 'platform_rate_limited'],
  ['unknown, platform unreachable', undefined, unreachable, 502, 'platform_unreachable'],
  ['unknown, platform throttling', undefined, throttled, 429, 'platform_rate_limited'],
])('%s: %s', async (_what, found, platform, status, code) => {
  const { ports } = setup(found, platform);
  await expect(resolveTemplate(wanted, ports)).rejects.toMatchObject({ status, code });
});

test('a copy that cannot be stored stops no send: the next one reads it again', async () => {
  const { ports } = setup(undefined, renewed);
  const contended = {
    ...ports,
    templates: { ...ports.templates, refresh: () => Promise.reject(new Error('conflicts')) },
  };
  expect(await resolveTemplate(wanted, contended)).toEqual({ template: renewed, contract, storedCopyUsed: false });
});

test('another status or category is told to every client of the WABA before it is stored (D34)', async () => {
  const found = stored(6 * minute);
  const { ports, refreshed, events } = setup(found, renewed);
  await resolveTemplate(wanted, ports);
  await resolveTemplate(wanted, ports);
  const [first, second, ...again] = events.sent;
  expect(first).toMatchObject({
    type: 'template.status_changed',
    clientId: 1001,
    data: { status: 'APPROVED', category: 'MARKETING', previous_status: 'APPROVED', previous_category: 'UTILITY' },
  });
  expect(second?.clientId).toBe(1002);
  expect(again.map(({ id }) => id)).toEqual([first?.id, second?.id]);
  events.broken = true;
  expect(await resolveTemplate(wanted, ports)).toEqual({ template: renewed, contract, storedCopyUsed: false });
  expect(refreshed).toHaveLength(2);
});

test('one that is gone upstream is told and marked, like by a synchronization', async () => {
  const { ports, refreshed, events } = setup(stored(6 * minute), undefined);
  await expect(resolveTemplate(wanted, ports)).rejects.toMatchObject({ code: 'template_not_found' });
  expect(events.sent.map(({ type, clientId }) => [type, clientId])).toEqual([
    ['template.deleted', 1001],
    ['template.deleted', 1002],
  ]);
  expect(refreshed).toMatchObject([{ kind: 'gone', clientIds: [1001, 1002], readAtMs: nowMs }]);
});

test('one that was only just created here, or is marked already, is left alone', async () => {
  for (const found of [stored(nowMs), stored(6 * minute, true)]) {
    const { ports, refreshed, events } = setup(found, undefined);
    await expect(resolveTemplate(wanted, ports)).rejects.toMatchObject({ code: 'template_not_found' });
    expect([...refreshed, ...events.sent]).toEqual([]);
  }
});

test('other components alone, and a template that was not stored, send no event', async () => {
  const { ports, events } = setup(stored(6 * minute), { ...sendable.order, components: [] });
  await resolveTemplate(wanted, ports);
  await resolveTemplate(wanted, setup(undefined, renewed).ports);
  expect(events.sent).toEqual([]);
});

test('an error that is not the platform is not covered up by the stored copy', async () => {
  const { ports } = setup(stored(60 * minute), undefined);
  const broken = { ...ports, platformTemplates: { lookUp: () => Promise.reject(new TypeError('a bug')) } };
  await expect(resolveTemplate(wanted, broken)).rejects.toThrow(TypeError);
});

test('404 names the languages that the name has, but not what is being deleted', async () => {
  const { ports } = setup(undefined, undefined);
  const sameName = ['pt_BR', 'es', 'fr'].map((language) => ({
    ...sendable.order,
    language,
    status: language === 'fr' ? 'PENDING_DELETION' : 'PENDING',
  }));
  const platformTemplates = { lookUp: async () => ({ sameName }) };
  await expect(resolveTemplate(wanted, { ...ports, platformTemplates })).rejects.toMatchObject({
    message: 'no template for the requested name/language; order_update exists in es, pt_BR',
  });
});

describe('warning', () => {
  const client: ClientTemplate = {
    clientId: 1001,
    active: true,
    documents: [{ id: 'a', pair: { channelId: 501, campaignId: 10 } }, { id: 'b' }],
  };
  const resolved = { template: sendable.order, contract, client, storedCopyUsed: false };
  const plain = {
    ...{ resolved, askedLanguage: 'en_US', campaignId: undefined, foreignDid: undefined },
    ...{ redirected: [], droppedIndexes: [] },
    request: { recipients: [] },
    recipients: ['12125550001', '+12125550002', 'US.1a2B', '14165550001', '17875550001'].map((to) => ({ to })),
  };
  const marketing = { ...resolved, template: { ...sendable.order, category: 'marketing' } };

  const unassigned = "is not among the template's assignments for this client";
  const unsynchronized = { template: sendable.order, contract, storedCopyUsed: false };
  const others = plain.recipients.slice(3);
  const ofNobody = [{ to: '15550131026' }, { to: '+15550231049' }];
  const lost = 'since 2025-04-01 the platform delivers no marketing to US: 3 of the recipients will not get it';
  const followed = 'user ids that the platform has replaced are followed: recipients[2] to US.NEW';
  const offline = 'the platform could not be reached, the stored copy of the template was used';

  test.each<[string, Partial<Parameters<typeof warningOf>[0]>, string | undefined]>([
    ['nothing to say', {}, undefined],
    ['an assigned campaign', { campaignId: 10 }, undefined],
    ['another campaign', { campaignId: 11 }, `campaign 11 ${unassigned}`],
    [
      'a campaign before the first synchronization',
      { campaignId: 10, resolved: unsynchronized },
      `campaign 10 ${unassigned}`,
    ],
    ['another spelling', { askedLanguage: 'en-us' }, "language en-us was taken for the template's en_US"],
    ['duplicates', { droppedIndexes: [2] }, 'duplicate recipients were dropped: recipients[2]'],
    [
      'marketing to a country where none is delivered: Canada and Puerto Rico are others',
      { resolved: marketing },
      lost,
    ],
    [
      'marketing to numbers that no person has: 555 is no area code',
      { resolved: marketing, recipients: ofNobody },
      undefined,
    ],
    ['marketing to others', { resolved: marketing, recipients: others }, undefined],
    ['a user id that is followed', { redirected: [[2, 'US.NEW']] }, followed],
    ['an old copy', { resolved: { ...resolved, storedCopyUsed: true } }, offline],
    [
      'a channel of another client (D5)',
      { foreignDid: '549' },
      'the did 549 is a channel of another client of the WABA',
    ],
  ])('%s', (_what, changes, expected) => {
    expect(warningOf({ ...plain, ...changes })).toBe(expected);
  });

  test('several matters are joined', () => {
    expect(warningOf({ ...plain, askedLanguage: 'EN_us', droppedIndexes: [2] })).toBe(
      "language EN_us was taken for the template's en_US; duplicate recipients were dropped: recipients[2]",
    );
  });
});
