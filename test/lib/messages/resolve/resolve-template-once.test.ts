import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { type ResolutionPorts, resolveTemplate } from '../../../../lib/messages/resolve/resolve-template.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { MemoryLookups } from '../../../support/memory-lookups.ts';
import { sendable } from '../../../support/platform-templates.ts';
import {
  contract,
  key,
  minute,
  nowMs,
  paused,
  renewed,
  setup,
  stored,
  throttled,
  unreachable,
  wanted,
} from './stored-template.ts';

/** Requests share one read of a template from the platform (D23). */

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
  ])('an unknown name is told with the one that it probably means, among %j', async (longerNames, message) => {
    const { ports } = setup(undefined, undefined);
    const platformTemplates = { lookUp: async () => ({ sameName: [], longerNames }) };
    const asked = resolveTemplate({ ...wanted, name: 'order_update' }, { ...ports, platformTemplates });
    await expect(asked).rejects.toMatchObject({ status: 404, message });
  });

  test('a request that comes while another asks waits for the answer, and takes what that one stored', async () => {
    const { ports, asked, questions } = setup(undefined, renewed);
    await questions.claim(key, { askerId: 'J0', nowMs, changedAtMs: 0 });
    const founds = [undefined, undefined, stored(0)];
    const templates = { ...ports.templates, find: async () => founds.shift() };
    expect(await resolveTemplate(wanted, { ...ports, templates })).toMatchObject({ template: sendable.order });
    expect([founds.length, asked.length]).toEqual([0, 0]);
  });

  test('a request that waits for one that never answers ends with 502', async () => {
    const { ports, asked, questions } = setup(undefined, renewed);
    await questions.claim(key, { askerId: 'J0', nowMs, changedAtMs: 0 });
    await expect(resolveTemplate(wanted, ports)).rejects.toMatchObject({ code: 'platform_unreachable' });
    expect(asked).toEqual([]);
  });

  test('a client that has asked too often is told so, and blocks the question for no other request', async () => {
    const { ports, asked, questions } = setup(undefined, renewed);
    questions.turns = 30;
    const refusal = await resolveTemplate(wanted, ports).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 429, details: { headers: { 'retry-after': '7' } } });
    expect([asked.length, questions.open.size]).toEqual([0, 0]);
  });

  test('a store that forgets changes no answer', async () => {
    const away = () => Promise.reject(new Error('DynamoDB is away'));
    const forgetful = () => ({ questions: { ...new MemoryLookups(), keep: away, release: away } });
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

  test('a request that waits for one that never answers waits 6 s, and sends by the copy', async () => {
    const { ports, asked, questions } = setup(old(), renewed);
    await questions.claim(`renewal ${key}`, claimed);
    const pauses: number[] = [];
    const waiting = { ...ports, pause: async (ms: number) => void pauses.push(ms) };
    expect(await resolveTemplate(wanted, waiting)).toMatchObject({ template: sendable.order, storedCopyUsed: true });
    expect([pauses, asked]).toEqual([Array.from({ length: 12 }, () => 500), []]);
  });

  test('a waiting request gets the refusal of the one that asked, and sees that the template cannot be sent any more', async () => {
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
    const ports = { ...waiting, pause: () => Promise.reject(new Error('no request has to wait')) };
    const copy = { template: sendable.order, contract, storedCopyUsed: true };
    expect([await resolveTemplate(wanted, ports), await resolveTemplate(wanted, ports)]).toEqual([copy, copy]);
    expect(asked).toHaveLength(1);
    await resolveTemplate(wanted, { ...ports, nowMs: () => nowMs + 10_000 });
    expect(asked).toHaveLength(2);
  });

  test('where the store cannot say whose turn it is, the copy is used', async () => {
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
  ])('after %s no request has to wait, and the client has used no question', async (_what, outcome) => {
    const { ports, questions } = setup(old(), renewed);
    const lookUp = async () => {
      if (outcome instanceof TypeError) throw outcome;
      return { found: outcome, sameName: [] };
    };
    await resolveTemplate(wanted, { ...ports, platformTemplates: { lookUp } }).catch(() => undefined);
    expect([questions.open.has(`renewal ${key}`), questions.turns]).toEqual([false, 0]);
  });
});
