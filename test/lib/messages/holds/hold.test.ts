import { describe, expect, test } from 'vitest';
import {
  afterAnsweredRun,
  afterSilentRun,
  type Hold,
  type Holds,
  holdsOn,
  inReviewCode,
  isNowMarketing,
  isOutdated,
  madeMarketing,
  madeOtherThanMarketing,
  noHolds,
  opened,
} from '../../../../lib/messages/holds/hold.ts';
import { ended, endedByReading } from '../../../../lib/messages/holds/hold-ends.ts';
import {
  isProbeDue,
  mayStillAsk,
  type Probe,
  probeEnded,
  probeOf,
  probeTaken,
} from '../../../../lib/messages/holds/questions.ts';
import {
  type HoldableMessage,
  type HoldScope,
  scopeOfDrop,
  scopeOfRefusal,
  scopesOf,
} from '../../../../lib/messages/holds/scope.ts';

const nowMs = 1_800_000_000_000;
const day = 86_400_000;
const template = { templateName: 'order', templateLanguage: 'es_AR' };
const utility: HoldableMessage = { category: 'UTILITY', path: 'messages', phoneNumberId: '1', ...template };
const marketing: HoldableMessage = { ...utility, category: 'MARKETING' };
const onMarketingEdge: HoldableMessage = { ...marketing, path: 'marketing_messages' };
const code = { ...utility, category: 'AUTHENTICATION' };

const waba = (changes: Partial<Hold> = {}): Holds => ({
  ...noHolds,
  holds: { waba: { sinceMs: nowMs, code: '131042', nextAskMs: nowMs + 10_000, asks: 0, ...changes } },
});

function askedAt(holds: Holds, atMs: number): { readonly holds: Holds; readonly question: Probe } {
  const after = probeTaken(utility, atMs)(holds);
  expect(after).not.toBe(holds);
  return { holds: after, question: probeOf(after, utility) };
}

describe('what a refusal holds (D46)', () => {
  test.each([
    [131042, utility, 'waba'],
    [131031, utility, 'waba'],
    [368, code, 'waba'],
    [131064, utility, 'utility'],
    [131064, marketing, undefined],
    [131037, code, 'number:1'],
    [133010, utility, 'number:1'],
    [131045, utility, 'number:1'],
    [131048, marketing, 'marketing:1'],
    [131048, utility, undefined],
    [131048, onMarketingEdge, 'marketing:1'],
    [131063, marketing, 'edge:1'],
    [131063, onMarketingEdge, undefined],
    [131063, utility, undefined],
    [131063, code, undefined],
    [135000, utility, undefined],
    [132015, utility, 'template:order/es_AR'],
    [132016, utility, undefined],
    [131026, utility, undefined],
    [130429, utility, undefined],
  ] as const)('%i for $category: %s', (refusal, message, scope) => {
    expect(scopeOfRefusal(refusal, message)).toBe(scope);
  });

  test.each([
    [135000, marketing, 'waba'],
    [135000, code, 'waba'],
    [131026, utility, undefined],
    [131049, marketing, undefined],
  ] as const)('%i for $category that was held and is dropped: %s', (refusal, message, scope) => {
    expect(scopeOfDrop(refusal, message)).toBe(scope);
  });
});

test('the widest hold is what is told; another number, category or template is free', () => {
  const scopes = scopesOf(marketing);
  expect(scopes).toEqual(['waba', 'number:1', 'marketing:1', 'edge:1', 'template:order/es_AR']);
  const all = scopes.reduce((holds, scope, at) => opened(scope, { code: String(at), nowMs })(holds), noHolds);
  for (const scope of scopes)
    expect(holdsOn({ ...all, holds: { [scope]: all.holds[scope] } }, marketing)[0]?.scope).toBe(scope);
  expect(holdsOn(all, marketing)[0]?.scope).toBe('waba');
  const narrow = ended('waba', nowMs, nowMs)(all);
  expect(holdsOn(narrow, marketing)[0]?.scope).toBe('number:1');
  expect(holdsOn(narrow, { ...marketing, phoneNumberId: '2', templateName: 'other' })[0]).toBeUndefined();
  expect(holdsOn(opened('utility', { code: '131064', nowMs })(noHolds), code)[0]).toBeUndefined();
  expect(holdsOn(opened('marketing:1', { code: '131048', nowMs })(noHolds), utility)[0]).toBeUndefined();
  // The two edges fail independently: a hold on one neither stops nor ends the other's messages.
  expect(holdsOn(opened('edge:1', { code: '131063', nowMs })(noHolds), onMarketingEdge)).toEqual([]);
});

test('opened twice the first stays; an end that is told later is taken over, and asked then', () => {
  const first = opened('waba', { code: '131042', nowMs })(noHolds);
  expect(first).toEqual(waba());
  expect(opened('waba', { code: '368', nowMs: nowMs + 1 })(first)).toBe(first);
  expect(opened('waba', { code: '368', nowMs: nowMs + 1, untilMs: nowMs })(first)).toBe(first);
  const told = opened('waba', { code: '368', nowMs: nowMs + 1, untilMs: nowMs + 3_600_000 })(first);
  expect(told).toEqual(waba({ untilMs: nowMs + 3_600_000, nextAskMs: nowMs + 3_600_000 }));
  expect(opened('waba', { code: '368', nowMs: nowMs + 2, untilMs: nowMs + 3_600_000 })(told)).toBe(told);
  expect(opened('waba', { code: '368', nowMs, untilMs: nowMs + 3_600_000 })(noHolds).holds.waba?.nextAskMs).toBe(
    nowMs + 3_600_000,
  );
});

test('an end that is far away is asked for once a day', () => {
  const far = opened('waba', { code: '368', nowMs, untilMs: nowMs + 30 * day })(noHolds);
  expect(far.holds.waba?.nextAskMs).toBe(nowMs + day);
  const { holds, question } = askedAt(far, nowMs + day);
  expect(probeEnded(question, 'refused', nowMs + day)(holds).holds.waba?.nextAskMs).toBe(nowMs + 2 * day);
});

test('asked after 10, 20, 40 seconds and so on, in the end every ten minutes', () => {
  let holds = waba();
  const waits: number[] = [];
  let atMs = nowMs;
  for (let ask = 0; ask < 9; ask += 1) {
    const dueMs = holds.holds.waba?.nextAskMs ?? 0;
    waits.push((dueMs - atMs) / 1_000);
    expect(isProbeDue(holds.holds.waba as Hold, dueMs - 1)).toBe(false);
    const next = askedAt(holds, dueMs);
    atMs = dueMs;
    holds = probeEnded(next.question, ask % 2 ? 'unclear' : 'refused', atMs)(next.holds);
  }
  expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600]);
  expect(holds.holds.waba).toMatchObject({ sinceMs: nowMs, asks: 9 });
});

test('one at a time may ask, until its lease ends; what asks is called only while enough of it is left', () => {
  const dueMs = nowMs + 10_000;
  const { holds, question } = askedAt(waba(), dueMs);
  expect(probeTaken(utility, dueMs + 59_999)(holds)).toBe(holds);
  expect(mayStillAsk(question, dueMs + 40_000)).toBe(true);
  expect(mayStillAsk(question, dueMs + 40_001)).toBe(false);
  const second = askedAt(holds, dueMs + 60_000);
  expect(second.holds.holds.waba?.asks).toBe(2);
  expect(probeTaken(utility, dueMs)(noHolds)).toBe(noHolds);
});

test('of several holds on a message all are asked, or none', () => {
  const both = opened('number:1', { code: '133010', nowMs: nowMs + 5_000 })(waba());
  expect(probeTaken(utility, nowMs + 10_000)(both)).toBe(both);
  const { holds, question } = askedAt(both, nowMs + 15_000);
  expect(question.of.map(({ scope }) => scope)).toEqual(['waba', 'number:1']);
  expect(probeEnded(question, 'taken', nowMs + 16_000)(holds).holds).toEqual({});
});

describe('an answer', () => {
  const dueMs = nowMs + 10_000;
  const cases = [
    ['131042', 'taken', true],
    ['131042', 'refused', false],
    ['131042', 'unclear', false],
    ['no_answer', 'taken', true],
    ['no_answer', 'refused', true],
    ['131000', 'refused', true],
    ['http_500', 'refused', true],
    ['no_answer', 'unclear', false],
  ] as const;
  test.each(cases)('to a hold for %s: %s ends it: %s', (held, result, ends) => {
    const { holds, question } = askedAt(waba({ code: held }), dueMs);
    const after = probeEnded(question, result, dueMs + 1_000)(holds).holds.waba;
    expect(after).toEqual(ends ? undefined : { sinceMs: nowMs, code: held, asks: 1, nextAskMs: dueMs + 21_000 });
  });

  test('of an earlier question, or to an earlier hold, changes nothing; so does a word', () => {
    const { holds: first, question: old } = askedAt(waba(), dueMs);
    const { holds: second } = askedAt(first, dueMs + 60_000);
    expect(probeEnded(old, 'taken', dueMs + 60_001)(second)).toBe(second);
    expect(probeEnded(old, 'refused', dueMs + 60_001)(second)).toBe(second);
    const later = opened('waba', { code: '368', nowMs: nowMs + 1 })(noHolds);
    expect(probeEnded(old, 'taken', dueMs)(later)).toBe(later);
    expect(ended('waba', nowMs, nowMs)(later)).toBe(later);
    expect(ended('waba', nowMs + 1, dueMs)(later).holds).toEqual({});
    expect(probeEnded(old, 'taken', dueMs)(noHolds)).toBe(noHolds);
    // The writer repeats its answer after a lost reply.
    const once = probeEnded(old, 'refused', dueMs)(first);
    expect(probeEnded(old, 'refused', dueMs + 1)(once)).toBe(once);
  });
});

describe('a hold of which receipts tell: the platform takes messages, and refuses them afterwards', () => {
  const late = (holds: Holds, atMs: number) => opened('waba', { code: '131042', nowMs: atMs, afterTaken: true })(holds);
  const taken = (holds: Holds) => {
    const dueMs = holds.holds.waba?.nextAskMs ?? 0;
    const { holds: next, question } = askedAt(holds, dueMs);
    return { holds: probeEnded(question, 'taken', dueMs)(next), dueMs };
  };

  test('ends by two messages that were taken, a minute apart, if no receipt has refused the first', () => {
    const first = taken(late(noHolds, nowMs));
    expect(first.holds.holds.waba).toMatchObject({
      afterTaken: true,
      takenMs: first.dueMs,
      nextAskMs: first.dueMs + 60_000,
    });
    expect(taken(first.holds).holds).toEqual(noHolds);
  });

  test('goes on when one has, and is asked later each time', () => {
    const first = taken(late(noHolds, nowMs));
    const refused = late(first.holds, first.dueMs + 5_000);
    expect(refused.holds.waba).toEqual({
      ...{ sinceMs: nowMs, code: '131042', afterTaken: true, asks: 1 },
      nextAskMs: first.dueMs + 25_000,
    });
    const second = taken(refused);
    expect(second.holds.holds.waba?.takenMs).toBe(second.dueMs);
    // Receipts of earlier messages bring no new fact.
    expect(late(refused, first.dueMs + 6_000)).toBe(refused);
  });

  test('of what was dropped goes on when the message that asks is refused', () => {
    const dropped = opened('waba', { code: '135000', nowMs, afterTaken: true })(noHolds);
    const { holds, question } = askedAt(dropped, nowMs + 10_000);
    expect(probeEnded(question, 'refused', nowMs + 10_000)(holds).holds.waba).toMatchObject({
      code: '135000',
      asks: 1,
    });
  });

  test('may have been opened by a refusal', () => {
    const known = late(waba(), nowMs + 5_000);
    expect(known.holds.waba).toMatchObject({ sinceMs: nowMs, afterTaken: true, nextAskMs: nowMs + 15_000 });
  });
});

test('a hold of which no message has asked for thirty days is forgotten when another opens', () => {
  const old = waba();
  const atMs = nowMs + 10_000 + 30 * day;
  const another = (openedMs: number) => opened('number:1', { code: '133010', nowMs: openedMs })(old);
  expect(Object.keys(another(atMs - 1).holds)).toEqual(['waba', 'number:1']);
  expect(Object.keys(another(atMs).holds)).toEqual(['number:1']);
});

describe('silence', () => {
  const silent = (times: readonly number[], from: Holds = noHolds) =>
    times.reduce((holds, atMs) => afterSilentRun(utility, { code: 'no_answer', nowMs: atMs })(holds), from);

  test('three runs of a number in a row within five minutes hold that number alone', () => {
    expect(silent([nowMs, nowMs + 1])).toEqual({ holds: {}, silences: { 1: { runs: 2, atMs: nowMs + 1 } } });
    const held = silent([nowMs, nowMs + 1, nowMs + 2]);
    expect(held.holds['number:1']).toMatchObject({ sinceMs: nowMs + 2, code: 'no_answer' });
    expect(held.silences).toEqual({});
    expect(silent([nowMs + 3], held)).toBe(held);
    expect(holdsOn(held, { ...utility, phoneNumberId: '2' })[0]).toBeUndefined();
  });

  test('by an answer with the code of a refusal, which proves none, it is held as by silence', () => {
    const runs = [1, 2, 3].map((at) => afterSilentRun(utility, { code: '131042', nowMs: nowMs + at }));
    const held = runs.reduce((holds, rule) => rule(holds), noHolds);
    expect(held.holds['number:1']?.code).toBe('no_answer');
    const { question, holds } = askedAt(held, nowMs + 10_003);
    expect(probeEnded(question, 'refused', nowMs + 10_004)(holds)).toEqual(noHolds);
  });

  test('of long ago is forgotten with the next', () => {
    const other = afterSilentRun({ phoneNumberId: '2' }, { code: 'no_answer', nowMs: nowMs + 300_000 });
    expect(Object.keys(other(silent([nowMs, nowMs + 1])).silences)).toEqual(['1', '2']);
    const later = afterSilentRun({ phoneNumberId: '2' }, { code: 'no_answer', nowMs: nowMs + 300_001 });
    expect(Object.keys(later(silent([nowMs, nowMs + 1])).silences)).toEqual(['2']);
  });

  test('an answer breaks the row, so does time', () => {
    const two = silent([nowMs, nowMs + 1]);
    expect(silent([nowMs + 300_001], two).silences).toMatchObject({ 1: { runs: 1 } });
    expect(afterAnsweredRun(utility)(two)).toEqual(noHolds);
    expect(afterAnsweredRun(utility)(noHolds)).toBe(noHolds);
    expect(afterAnsweredRun({ phoneNumberId: '2' })(two)).toBe(two);
  });
});

test('rules change nothing that they were given', () => {
  const before = JSON.stringify(waba());
  const holds = waba();
  for (const scope of ['waba', 'utility'] satisfies HoldScope[])
    opened(scope, { code: '1', nowMs, untilMs: nowMs + day })(holds);
  probeTaken(utility, nowMs + 10_000)(holds);
  ended('waba', nowMs, nowMs)(holds);
  expect(JSON.stringify(holds)).toBe(before);
});

describe('what only a reading ends (D42, D46)', () => {
  const scope: HoldScope = 'template:order/es_AR';
  const inReview = (holds: Holds, atMs = nowMs, reason = inReviewCode) =>
    opened(scope, { code: reason, nowMs: atMs, byReading: true })(holds);

  test('no message probes it, also not years later, and with it no other hold of the message', () => {
    const hold = inReview(noHolds).holds[scope] as Hold;
    expect(isProbeDue(hold, nowMs + 400 * day)).toBe(false);
    const both = inReview(waba());
    expect(probeTaken(utility, nowMs + day)(both)).toBe(both);
  });

  test('it takes the place of one with probes, keeps its start, and has the code of the latest word', () => {
    const paused = opened(scope, { code: '132015', nowMs })(noHolds);
    const review = inReview(paused, nowMs + 1);
    expect(review.holds[scope]).toMatchObject({ code: inReviewCode, sinceMs: nowMs + 1, byReading: true });
    expect(inReview(review, nowMs + 2)).toBe(review);
    expect(opened(scope, { code: '132015', nowMs: nowMs + 3 })(review)).toBe(review);
    expect(inReview(review, nowMs + 4, '132016').holds[scope]).toMatchObject({ code: '132016', sinceMs: nowMs + 1 });
  });

  test('what was composed before its end is judged again, what was composed later is not', () => {
    const over = endedByReading(scope, nowMs, nowMs + 500)(inReview(noHolds));
    expect([over.holds, endedByReading(scope, nowMs - 1, nowMs)(inReview(noHolds)).holds[scope]?.code]).toEqual([
      {},
      inReviewCode,
    ]);
    const judged = (composedMs: number, message = utility) => isOutdated(over, message, composedMs);
    expect([judged(nowMs), judged(nowMs + 499), judged(nowMs + 500)]).toEqual([true, true, false]);
    expect(judged(nowMs, { ...utility, templateName: 'another' })).toBe(false);
    // A pause that a probe or a reading ends changes no template.
    const paused = opened(scope, { code: '132015', nowMs })(noHolds);
    expect(endedByReading(scope, nowMs, nowMs)(paused)).toMatchObject({ holds: {} });
    expect(endedByReading(scope, nowMs, nowMs)(paused).reviewedMs).toBeUndefined();
  });

  test('the newest hundred templates are known', () => {
    const many = Array.from({ length: 120 }, (_, at): HoldScope => `template:t${at}/en`);
    const all = many.reduce(
      (holds, each, at) => opened(each, { code: inReviewCode, nowMs: nowMs + at, byReading: true })(holds),
      waba(),
    );
    expect(Object.keys(all.holds)).toEqual(expect.arrayContaining(['waba', 'template:t119/en']));
    expect(Object.keys(all.holds).length).toBeLessThanOrEqual(102);
    const marked = many.reduce((holds, each, at) => madeMarketing(each, nowMs + at)(holds), noHolds);
    expect(Object.keys(marked.marketingMs ?? {})).toHaveLength(100);
    expect(marked.marketingMs?.['template:t119/en']).toBe(nowMs + 119);
  });

  test('a template that became MARKETING meets the holds of MARKETING, until a reading shows another category', () => {
    const held = opened('marketing:1', { code: '131048', nowMs })(noHolds);
    const scopes = (holds: Holds) => holdsOn(holds, utility).map(({ scope: each }) => each);
    const word = madeMarketing(scope, nowMs)(held);
    expect([scopes(held), scopes(word), isNowMarketing(word, marketing)]).toEqual([[], ['marketing:1'], false]);
    expect([scopes(madeOtherThanMarketing(scope)(word)), madeMarketing(scope, nowMs + 1)(word)]).toEqual([[], word]);
  });
});
