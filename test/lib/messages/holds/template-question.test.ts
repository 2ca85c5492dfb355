import { describe, expect, test } from 'vitest';
import { type Hold, type Holds, inReviewCode, noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { endedByReading } from '../../../../lib/messages/holds/hold-ends.ts';
import { readingTaken } from '../../../../lib/messages/holds/questions.ts';
import { askTemplate } from '../../../../lib/messages/holds/template-question.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryHolds } from '../../../support/memory-holds.ts';
import { makeTemplate } from '../../../support/templates.ts';

/* Whether the hold of a template is over is read by one sender at a time, and what it reads counts for all (D46). */

const sinceMs = 1_800_000_000_000;
const dueMs = sinceMs + 10_000;
const scope = 'template:order_update/en_US';
const head = makeDispatchHead({ acceptedAtMs: sinceMs - 60_000 });
const { wabaId } = head;
const inReview = opened(scope, { code: inReviewCode, nowMs: sinceMs, byReading: true })(noHolds);

interface Setting {
  /** The template is in review at the platform by default. */
  readonly status?: string;
  readonly stored?: { readonly status: string; readonly afterMs: number; readonly deleted?: boolean };
  readonly holds?: Holds;
  readonly atMs?: number;
  /** Happens while the platform is asked. */
  readonly meanwhile?: (holds: MemoryHolds) => void;
}

async function asked({ status = 'PENDING', stored, holds = inReview, atMs = dueMs, meanwhile }: Setting = {}) {
  const did: (string | undefined)[] = [];
  const wabas = new MemoryHolds(() => atMs);
  wabas.stored.set(wabaId, holds);
  const hold = holds.holds[scope] as Hold;
  await askTemplate(
    head,
    { scope, hold },
    {
      wabas,
      templates: { storedFacts: async ([key = '']) => new Map(factsOf(stored).map((fact) => [key, fact])) },
      keepReading: async (_, template, readAtMs) => void did.push(`keep ${template?.status} ${readAtMs - dueMs}`),
      platformTemplates: {
        find: async () => {
          did.push('ask');
          meanwhile?.(wabas);
          if (status === 'unreachable') throw new PlatformFailure('ambiguous');
          return status === 'missing' ? undefined : makeTemplate({ status });
        },
      },
      nowMs: () => atMs,
      log: (event) => void did.push(event),
    },
  );
  return { did, all: wabas.of(wabaId), hold: wabas.of(wabaId).holds[scope] };
}

function factsOf(stored: Setting['stored']) {
  if (stored === undefined) return [];
  const { status, afterMs, deleted = false } = stored;
  return [
    { wabaId, template: makeTemplate({ status }), deleted, readAtMs: sinceMs + afterMs, sinceMs: 0, asSent: false },
  ];
}

describe('a question about a template', () => {
  test('approved: the reading is kept, then the hold ends, and what waits is judged again', async () => {
    const { did, all } = await asked({ status: 'APPROVED' });
    expect(did).toEqual(['ask', 'keep APPROVED 0', 'hold.ended']);
    expect(all).toMatchObject({ holds: {}, reviewedMs: { [scope]: dueMs }, unproven: { [scope]: { asks: 1 } } });
  });

  test.each([
    ['DISABLED', { code: '132016' }],
    ['missing', { code: 'template_deleted' }],
    ['PENDING_DELETION', { code: 'template_deleted' }],
    ['REJECTED', { code: 'template_changed', reason: expect.stringMatching(/not APPROVED: .*REJECTED/) }],
  ])('%s: the hold has the verdict, and is asked later whether it still is so', async (status, verdict) => {
    const { hold, did } = await asked({ status });
    expect(did).toEqual(['ask', expect.stringMatching(/^keep /)]);
    expect(hold).toEqual({
      ...{ sinceMs, code: inReviewCode, byReading: true, asks: 1, nextAskMs: dueMs + 20_000 },
      verdict: { state: 'failed', ...verdict, atMs: dueMs },
    });
  });

  test.each(['PENDING', 'PAUSED', 'IN_APPEAL', 'unreachable'])('%s: it is asked later', async (status) => {
    const { hold } = await asked({ status });
    expect(hold).toEqual({ sinceMs, code: inReviewCode, byReading: true, asks: 1, nextAskMs: dueMs + 20_000 });
  });

  test('a verdict is over once a reading says otherwise', async () => {
    const { all } = await asked({ status: 'REJECTED' });
    const { hold } = await asked({ status: 'PENDING', holds: all, atMs: dueMs + 20_000 });
    expect(hold?.verdict).toBeUndefined();
  });

  test('a verdict stays when a later question has no answer', async () => {
    const { all } = await asked({ status: 'REJECTED' });
    const { hold } = await asked({ status: 'unreachable', holds: all, atMs: dueMs + 20_000 });
    expect(hold).toMatchObject({
      asks: 2,
      nextAskMs: dueMs + 60_000,
      verdict: { code: 'template_changed', atMs: dueMs },
    });
  });

  test('a stored reading that is younger than the hold counts, without asking', async () => {
    expect((await asked({ stored: { status: 'APPROVED', afterMs: 1 } })).did).toEqual(['hold.ended']);
    for (const stored of [
      { status: 'APPROVED', afterMs: 0 },
      { status: 'PAUSED', afterMs: 1 },
      { status: 'APPROVED', afterMs: 1, deleted: true },
    ]) {
      expect((await asked({ stored })).did).toContain('ask');
    }
  });

  test('that is not due, or that another sender asks, is not asked', async () => {
    expect((await asked({ atMs: dueMs - 1 })).did).toEqual([]);
    const taken = readingTaken(scope, dueMs)(inReview);
    expect((await asked({ holds: taken, atMs: dueMs + 59_999 })).did).toEqual([]);
    expect((await asked({ holds: taken, atMs: dueMs + 60_000 })).did).toContain('ask');
  });

  test('a late answer changes neither a later hold nor what another sender asks', async () => {
    const again = opened(scope, { code: inReviewCode, nowMs: dueMs + 1, byReading: true })(noHolds);
    const replaced = await asked({ status: 'APPROVED', meanwhile: (holds) => holds.stored.set(wabaId, again) });
    expect(replaced.all).toEqual(again);
    const second = readingTaken(scope, dueMs + 60_000)(readingTaken(scope, dueMs)(inReview));
    const late = await asked({ status: 'REJECTED', meanwhile: (holds) => holds.stored.set(wabaId, second) });
    expect(late.all).toEqual(second);
    const ended = endedByReading(scope, sinceMs, dueMs)(inReview);
    const overtaken = await asked({ status: 'REJECTED', meanwhile: (holds) => holds.stored.set(wabaId, ended) });
    expect(overtaken.all).toEqual(ended);
  });
});
