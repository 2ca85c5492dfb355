import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AcceptingOptions, AcceptingWorld, earlierDispatchId } from '../../../support/accepting-world.ts';
import { fakeTimers, restoreTimers } from '../../../support/fake-timers.ts';
import { sendable } from '../../../support/platform-templates.ts';
import { thorough } from '../../../support/thorough.ts';

beforeEach(() => {
  fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 1_800_000_000_000 });
  // The real AbortSignal.timeout does not follow the fake clock.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const ended = new AbortController();
    setTimeout(() => ended.abort(new DOMException('its time is over', 'TimeoutError')), ms);
    return ended.signal;
  });
});
afterEach(restoreTimers);

const template = sendable.order;
const request = (recipients: readonly unknown[]) => ({
  did: '5491100000001',
  type: 'template',
  channel: 'MESSAGING',
  template: { name: 'order', language: 'en_US' },
  recipients,
});
const params = { body: ['Ana', '17'], buttons: ['17'] };
const one = request([{ to: '5491155550001', params }]);
const eleven = request(Array.from({ length: 11 }, (_, at) => ({ to: String(5_491_155_550_001 + at), params })));
const dispatchWrites = ['store', 'begin', 'wake', 'list'];

/** Answers one request, then lets all its pending work finish. */
async function run(options: Omit<AcceptingOptions, 'template'>, body: object, key: string | undefined) {
  const world = new AcceptingWorld({ ...options, template });
  const began = Date.now();
  const answer = world.send(body, key).then((given) => ({ ...given, afterMs: Date.now() - began }));
  await vi.advanceTimersByTimeAsync(60_000);
  world.thaw();
  await vi.advanceTimersByTimeAsync(60_000);
  return { ...(await answer), calls: world.calls, sent: world.sentDispatches() };
}

type Answered = Awaited<ReturnType<typeof run>>;

/**
 * Returns what is wrong with an answer: 200 must mean that all is sent, any other that nothing is, unless it says that
 * it is not known.
 */
function fault(answered: Answered, options: Omit<AcceptingOptions, 'template'>): string | undefined {
  const { status, code, dispatchId, sent, afterMs, calls } = answered;
  if (afterMs > Math.max(0, options.remainingMs - 4_000)) return 'answered after the edge ought to have';
  const spareMs = options.remainingMs - afterMs - 4_000;
  if (afterMs > 0 && code !== 'platform_unreachable' && spareMs < 500) return 'answered in the moment of the edge';
  if (status === 200) return sent.length === 1 && sent[0] === dispatchId ? undefined : 'accepted, and not sent';
  if (code === 'dispatch_undecided') {
    return calls.includes('withdraw') ? undefined : 'undecided, and nothing was asked';
  }
  if (status !== 502) return `answered ${status}`;
  if (sent.includes('NEW')) return `sent, and answered ${code}`;
  return code === 'dispatch_unavailable' && sent.length > 0 ? 'unavailable, and an earlier one is sent' : undefined;
}

const everyHalfSecondMs = Array.from({ length: 59 }, (_, half) => half * 500).filter(
  (_, half) => thorough || half % 7 === 0,
);
const everyMode = ['lost', 'silent', 'late'] as const;

interface Explored {
  readonly body?: object;
  readonly key?: string;
  readonly timesMs?: readonly number[];
  readonly onward?: boolean;
  readonly modes?: readonly (typeof everyMode)[number][];
  /** The calls before this one never hang. */
  readonly from?: number;
}

async function explore(
  scenario: Partial<AcceptingOptions>,
  { body = one, key, timesMs = everyHalfSecondMs, modes = everyMode, from = 1, onward = false }: Explored,
): Promise<{ readonly faults: string[]; readonly hung: Set<string>; readonly codes: Set<string> }> {
  const faults: string[] = [];
  const hung = new Set<string>();
  const codes = new Set<string>();
  for (const remainingMs of timesMs) {
    for (const mode of modes) {
      for (let number = from; ; number += 1) {
        const options = { ...scenario, remainingMs, hanging: { number, mode, onward } };
        const answered = await run(options, body, key);
        if (answered.calls.length < number) break;
        const name = answered.calls[number - 1] ?? '';
        hung.add(name);
        codes.add(answered.code ?? String(answered.status));
        const what = fault(answered, options);
        if (what !== undefined) faults.push(`${remainingMs} ms left, ${name} ${mode}: ${what}`);
      }
    }
  }
  return { faults, hung, codes };
}

describe('with any one call hanging at any time, 200 says that all is sent, and 502 that nothing is (D25, R20)', () => {
  test.each([
    { goes: 'straight, and a worker comes later', scenario: {}, body: one, writes: ['send', 'begin'] },
    { goes: 'straight, and a worker comes at once', scenario: { eager: true }, body: one, writes: ['send', 'begin'] },
    { goes: 'as a dispatch, and its sender comes later', scenario: {}, body: eleven, writes: dispatchWrites },
    {
      goes: 'as a dispatch, and its sender comes at once',
      scenario: { eager: true },
      body: eleven,
      writes: dispatchWrites,
    },
  ])('with a key, what goes $goes', async ({ scenario, body, writes }) => {
    const { faults, hung, codes } = await explore(scenario, { key: 'k', body });
    expect(faults).toEqual([]);
    const calls = ['findSendable', 'claim', 'find', 'lookUp', 'refresh', ...writes, 'complete', 'remove'];
    expect([...hung].sort()).toEqual(calls.sort());
    expect([...codes].sort()).toEqual(['200', 'dispatch_unavailable', 'platform_unreachable']);
  });

  test.each([
    { queueMs: 0, body: one },
    { queueMs: 3_000, body: one },
    { queueMs: 3_900, body: one },
    { queueMs: 3_000, body: eleven },
  ])(
    'with everything behind it hanging too, a queue that takes $queueMs ms, and $body.recipients.length recipients',
    async ({ queueMs, body }) => {
      const { faults, codes } = await explore({ queueMs }, { key: 'k', body, onward: true });
      expect(faults).toEqual([]);
      expect([...codes].sort()).toEqual(['200', 'dispatch_unavailable', 'dispatch_undecided', 'platform_unreachable']);
    },
  );

  test('without a key', async () => {
    const { faults, hung } = await explore({}, {});
    expect(faults).toEqual([]);
    expect(hung).toContain('begin');
  });

  test('of a key whose first run died before its dispatch was begun', async () => {
    const { faults, codes } = await explore({ died: 'not begun' }, { key: 'k' });
    expect(faults).toEqual([]);
    expect(codes).toContain('dispatch_undecided');
  });

  test('of a key whose first run died after its dispatch was begun', async () => {
    const { faults, hung } = await explore({ died: 'begun' }, { key: 'k' });
    expect(faults).toEqual([]);
    expect([...hung]).toContain('complete');
    expect((await run({ died: 'begun', remainingMs: 29_000 }, one, 'k')).dispatchId).toBe(earlierDispatchId);
  });
});
