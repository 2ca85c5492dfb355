import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { warningOf } from '../../../../lib/messages/accept/send-warnings.ts';
import { parameterContract } from '../../../../lib/messages/request/parameter-contract.ts';
import { type ResolutionPorts, resolveTemplate } from '../../../../lib/messages/resolve/resolve-template.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { ClientTemplate, PlatformTemplate, TemplateForSending } from '../../../../lib/templates/model/template.ts';
import { templateKey } from '../../../../lib/templates/model/template-key.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { MemoryQuestions } from '../../../support/memory-questions.ts';
import { sendable } from '../../../support/platform-templates.ts';
import { makeRow } from '../../../support/templates.ts';

const nowMs = 1_700_000_000_000;
const minute = 60_000;
const waba = { wabaId: '2', credential: 'main', clientIds: [1001, 1002] };
const wanted = { clientId: 1001, askerId: 'J1', waba, name: 'order_update', language: 'en_US' };
const renewed = { ...sendable.order, category: 'MARKETING' };
const contract = parameterContract(sendable.order);
const paused = { ...sendable.order, status: 'PAUSED' };

function stored(ageMs: number, deleted = false, template: PlatformTemplate = sendable.order): TemplateForSending {
  return { fact: { wabaId: '2', template, deleted, readAtMs: nowMs - ageMs, sinceMs: 1 } };
}

/** Ports with one stored template and one platform answer; `refreshed` records the stored rows. */
function setup(found: TemplateForSending | undefined, platform: PlatformTemplate | PlatformFailure | undefined) {
  const refreshed: unknown[] = [];
  const asked: unknown[] = [];
  const events = new MemoryEvents();
  const questions = new MemoryQuestions();
  const ports: ResolutionPorts = {
    events,
    questions,
    pause: async () => undefined,
    nowMs: () => nowMs,
    templates: {
      find: async () => found,
      refresh: async (...call) => {
        refreshed.push(call);
      },
      writeUpstream: async ([write]) => {
        refreshed.push(write);
        return new Set();
      },
      stateOf: async () => ({ rows: [makeRow({ wabaId: '2' }), makeRow({ wabaId: '2', clientId: 1002 })] }),
    },
    platformTemplates: {
      lookUp: async (...call) => {
        asked.push(call);
        if (platform instanceof PlatformFailure) throw platform;
        return platform === undefined ? { sameName: [] } : { found: platform, sameName: [] };
      },
    },
  };
  return { ports, refreshed, asked, events, questions };
}

const key = templateKey({ wabaId: '2', name: 'order_update', language: 'en_US' });
const unreachable = new PlatformFailure('not_sent');
const throttled = new PlatformFailure('refused', { httpStatus: 400, code: 4 });

test('a copy younger than 5 minutes is used without asking', async () => {
  const { ports, asked } = setup(stored(5 * minute - 1), renewed);
  expect(await resolveTemplate(wanted, ports)).toEqual({ template: sendable.order, contract, storedCopyUsed: false });
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
  [
    'paused a minute ago, and the platform says so',
    stored(minute, false, paused),
    paused,
    422,
    'template_not_sendable',
  ],
  ['paused meanwhile', stored(60 * minute), paused, 422, 'template_not_sendable'],
  ['gone upstream', stored(60 * minute), undefined, 404, 'template_not_found'],
  ['still listed upstream, as deleted', undefined, { ...renewed, status: 'DELETED' }, 404, 'template_not_found'],
  ['unknown everywhere', undefined, undefined, 404, 'template_not_found'],
  ['deleted long ago, platform unreachable', stored(60 * minute, true), unreachable, 502, 'platform_unreachable'],
  [
    'paused a minute ago, platform unreachable',
    stored(minute, false, paused),
    unreachable,
    502,
    'platform_unreachable',
  ],
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

test('other components alone, and a template that was not stored, are told nobody', async () => {
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

describe('the same is not asked twice in 10 s (D23)', () => {
  test.each([
    ['404', undefined],
    ['422', paused],
    ['429', throttled],
  ])('a %s is told again', async (_what, platform) => {
    const { ports, asked } = setup(undefined, platform);
    const refusalOf = () => resolveTemplate(wanted, ports).catch((error: unknown) => error);
    const first = await refusalOf();
    expect(first).toBeInstanceOf(Refusal);
    expect(await refusalOf()).toBe(first);
    expect(asked).toHaveLength(1);
  });

  test('the no that a renewal found is told again', async () => {
    const { ports, asked } = setup(stored(60 * minute), paused);
    await expect(resolveTemplate(wanted, ports)).rejects.toMatchObject({ status: 422 });
    const again = { ...ports, templates: { ...ports.templates, find: async () => stored(0, false, paused) } };
    await expect(resolveTemplate(wanted, again)).rejects.toMatchObject({ status: 422 });
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['a call that never left', unreachable],
    ['a call without an answer', new PlatformFailure('ambiguous', { httpStatus: 503 })],
    ['a refused credential', new PlatformFailure('refused', { httpStatus: 401, code: 190 })],
  ])("%s and a bug of ours say nothing: the next one asks, at its client's expense", async (_what, failure) => {
    const { ports, asked, questions } = setup(undefined, failure);
    for (let time = 0; time < 2; time += 1) {
      await expect(resolveTemplate(wanted, ports)).rejects.toMatchObject({ status: 502 });
    }
    expect([asked.length, questions.turns]).toEqual([2, 2]);
    const broken = { ...ports, platformTemplates: { lookUp: () => Promise.reject(new TypeError('a bug')) } };
    await expect(resolveTemplate(wanted, broken)).rejects.toThrow(TypeError);
    expect(questions.open.size).toBe(0);
  });

  test('what was changed here since it was asked is asked again', async () => {
    const { ports, asked } = setup(stored(minute, false, paused), paused);
    await expect(resolveTemplate(wanted, ports)).rejects.toMatchObject({ status: 422 });
    const deletedSince = { ...ports.templates, find: async () => stored(-1, true) };
    const platformTemplates = { lookUp: async () => ({ sameName: [] }) };
    const later = { ...ports, templates: deletedSince, platformTemplates };
    await expect(resolveTemplate(wanted, later)).rejects.toMatchObject({ status: 404 });
    expect(asked).toHaveLength(1);
  });

  test.each([
    [
      ['order_updates', 'order_update_for_vips'],
      'no template for the requested name/language; did you mean order_updates?',
    ],
    [['order_update_for_vips'], 'no template for the requested name/language'],
  ])('a name that nobody has is told with the one that it probably means, among %j', async (longerNames, message) => {
    const { ports } = setup(undefined, undefined);
    const platformTemplates = { lookUp: async () => ({ sameName: [], longerNames }) };
    const asked = resolveTemplate({ ...wanted, name: 'order_update' }, { ...ports, platformTemplates });
    await expect(asked).rejects.toMatchObject({ status: 404, message });
  });

  test('who comes while another asks waits for the answer, and takes what that one stored', async () => {
    const { ports, asked, questions } = setup(undefined, renewed);
    await questions.claim(key, { askerId: 'J0', nowMs, changedAtMs: 0 });
    const founds = [undefined, undefined, stored(0)];
    const templates = { ...ports.templates, find: async () => founds.shift() };
    expect(await resolveTemplate(wanted, { ...ports, templates })).toMatchObject({ template: sendable.order });
    expect([founds.length, asked.length]).toEqual([0, 0]);
  });

  test('who waits for one that never answers ends with 502', async () => {
    const { ports, asked, questions } = setup(undefined, renewed);
    await questions.claim(key, { askerId: 'J0', nowMs, changedAtMs: 0 });
    await expect(resolveTemplate(wanted, ports)).rejects.toMatchObject({ code: 'platform_unreachable' });
    expect(asked).toEqual([]);
  });

  test('a client that has asked too often is told so, and holds the question for nobody', async () => {
    const { ports, asked, questions } = setup(undefined, renewed);
    questions.turns = 30;
    const refusal = await resolveTemplate(wanted, ports).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 429, details: { headers: { 'retry-after': '7' } } });
    expect([asked.length, questions.open.size]).toEqual([0, 0]);
  });

  test('a store that forgets changes no answer', async () => {
    const away = () => Promise.reject(new Error('DynamoDB is away'));
    const forgetful = () => ({ questions: { ...new MemoryQuestions(), keep: away, release: away } });
    const { ports } = setup(undefined, undefined);
    await expect(resolveTemplate(wanted, { ...ports, ...forgetful() })).rejects.toMatchObject({ status: 404 });
    const { ports: found } = setup(undefined, renewed);
    expect(await resolveTemplate(wanted, { ...found, ...forgetful() })).toMatchObject({ template: renewed });
  });
});

describe('an old copy is read again by one request at a time (D23)', () => {
  const old = () => stored(6 * minute);
  const claimed = { askerId: 'J0', nowMs, changedAtMs: 0 };

  test('of two at once one asks, and the other takes what that one stored', async () => {
    const { ports, asked } = setup(old(), renewed);
    const answered = Promise.withResolvers<void>();
    let current = old();
    const shared: ResolutionPorts = {
      ...ports,
      pause: async () => answered.resolve(),
      templates: {
        ...ports.templates,
        find: async () => current,
        refresh: async () => {
          current = stored(0, false, renewed);
        },
      },
      platformTemplates: {
        lookUp: async (...call) => {
          asked.push(call);
          await answered.promise;
          return { found: renewed, sameName: [] };
        },
      },
    };
    const both = await Promise.all(['J1', 'J2'].map((askerId) => resolveTemplate({ ...wanted, askerId }, shared)));
    const taken = { template: renewed, contract, storedCopyUsed: false };
    expect([both, asked.length]).toEqual([[taken, taken], 1]);
  });

  test('who waits for one that never answers waits 6 s, and sends by the copy', async () => {
    const { ports, asked, questions } = setup(old(), renewed);
    await questions.claim(`renewal ${key}`, claimed);
    const pauses: number[] = [];
    const waiting = { ...ports, pause: async (ms: number) => void pauses.push(ms) };
    expect(await resolveTemplate(wanted, waiting)).toMatchObject({ template: sendable.order, storedCopyUsed: true });
    expect([pauses, asked]).toEqual([Array.from({ length: 12 }, () => 500), []]);
  });

  test('who waits sees that it cannot be sent any more, and hears the no of the one who asked', async () => {
    const { ports, asked, questions } = setup(old(), renewed);
    await questions.claim(`renewal ${key}`, claimed);
    await questions.keep(key, new Refusal('template_not_sendable', 'paused'), nowMs);
    const founds = [old(), stored(0, false, paused)];
    const templates = { ...ports.templates, find: async () => founds.shift() };
    await expect(resolveTemplate(wanted, { ...ports, templates })).rejects.toThrow('paused');
    expect(asked).toEqual([]);
  });

  test('while the platform does not answer it is asked once in 10 s, and the copy is used', async () => {
    const { ports: waiting, asked } = setup(old(), unreachable);
    const ports = { ...waiting, pause: () => Promise.reject(new Error('nobody has to wait')) };
    const copy = { template: sendable.order, contract, storedCopyUsed: true };
    expect([await resolveTemplate(wanted, ports), await resolveTemplate(wanted, ports)]).toEqual([copy, copy]);
    expect(asked).toHaveLength(1);
    await resolveTemplate(wanted, { ...ports, nowMs: () => nowMs + 10_000 });
    expect(asked).toHaveLength(2);
  });

  test('where nobody can say whose turn it is, the copy is used', async () => {
    const { ports, asked } = setup(old(), renewed);
    const questions = { ...ports.questions, claim: () => Promise.reject(new Error('the table is away')) };
    const copy = { template: sendable.order, contract, storedCopyUsed: true };
    expect(await resolveTemplate(wanted, { ...ports, questions })).toEqual(copy);
    expect(asked).toEqual([]);
  });

  test.each([
    ['an answer', renewed],
    ['a no', paused],
    ['a bug of ours', new TypeError('a bug')],
  ])('after %s nobody has to wait, and the client has used no question', async (_what, outcome) => {
    const { ports, questions } = setup(old(), renewed);
    const lookUp = async () => {
      if (outcome instanceof TypeError) throw outcome;
      return { found: outcome, sameName: [] };
    };
    await resolveTemplate(wanted, { ...ports, platformTemplates: { lookUp } }).catch(() => undefined);
    expect([questions.open.has(`renewal ${key}`), questions.turns]).toEqual([false, 0]);
  });
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
    ...{
      resolved,
      askedLanguage: 'en_US',
      campaignId: undefined,
      redirected: [],
      droppedIndexes: [],
      foreignDid: undefined,
    },
    recipients: ['12125550001', '+12125550002', 'US.1a2B', '14165550001', '17875550001'].map((to) => ({ to })),
  };
  const marketing = { ...resolved, template: { ...sendable.order, category: 'marketing' } };

  test.each<[string, Parameters<typeof warningOf>[0], string | undefined]>([
    ['nothing to say', plain, undefined],
    ['an assigned campaign', { ...plain, campaignId: 10 }, undefined],
    [
      'another campaign',
      { ...plain, campaignId: 11 },
      "campaign 11 is not among the template's assignments for this client",
    ],
    [
      'a campaign before the first synchronization',
      { ...plain, campaignId: 10, resolved: { template: sendable.order, contract, storedCopyUsed: false } },
      "campaign 10 is not among the template's assignments for this client",
    ],
    ['another spelling', { ...plain, askedLanguage: 'en-us' }, "language en-us was taken for the template's en_US"],
    ['duplicates', { ...plain, droppedIndexes: [2] }, 'duplicate recipients were dropped: recipients[2]'],
    [
      'marketing to a country where none is delivered: Canada and Puerto Rico are others',
      { ...plain, resolved: marketing },
      'since 2025-04-01 the platform delivers no marketing to US: 3 of the recipients will not get it',
    ],
    [
      'marketing to numbers that no person has: 555 is no area code',
      { ...plain, resolved: marketing, recipients: [{ to: '15550131026' }, { to: '+15550231049' }] },
      undefined,
    ],
    ['marketing to others', { ...plain, resolved: marketing, recipients: plain.recipients.slice(3) }, undefined],
    [
      'a user id that is followed',
      { ...plain, redirected: [[2, 'US.NEW']] },
      'user ids that the platform has replaced are followed: recipients[2] to US.NEW',
    ],
    [
      'an old copy',
      { ...plain, resolved: { ...resolved, storedCopyUsed: true } },
      'the platform could not be reached, the stored copy of the template was used',
    ],
    [
      'a channel of another client (D5)',
      { ...plain, foreignDid: '549' },
      'the did 549 is a channel of another client of the WABA',
    ],
  ])('%s', (_what, warned, expected) => {
    expect(warningOf(warned)).toBe(expected);
  });

  test('several matters are joined', () => {
    expect(warningOf({ ...plain, askedLanguage: 'EN_us', droppedIndexes: [2] })).toBe(
      "language EN_us was taken for the template's en_US; duplicate recipients were dropped: recipients[2]",
    );
  });
});
