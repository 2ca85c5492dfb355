import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dispatchIdPattern, messageIdOf } from '../../../lib/messages/dispatch/head.ts';
import { repliedMessageOf, replyPayload } from '../../../lib/messages/reply-payload.ts';
import { stopWordMatcher, stopWords } from '../../../lib/opt-outs/stop-words.ts';

const dispatchId = '01M80HXQNCYVAMMXGBXAHJWT8R';

test('the spelling, which lasts as long as a message can be answered', () => {
  expect(replyPayload(`${dispatchId}-17`, { button: 2 })).toBe(`tm1:${dispatchId}-17:2`);
  expect(replyPayload(`${dispatchId}-17`, { button: 1, card: 9 })).toBe(`tm1:${dispatchId}-17:9.1`);
});

const dispatchIds = fc.stringMatching(dispatchIdPattern);
const places = fc.record(
  { button: fc.nat({ max: 99 }), card: fc.nat({ max: 99 }) },
  { requiredKeys: ['button'], noNullPrototype: true },
);

test('what a send writes is read again, is no stop word, and is within 128 characters', () => {
  const judge = stopWordMatcher(stopWords);
  fc.assert(
    fc.property(dispatchIds, fc.nat({ max: 99_999 }), places, (of, index, place) => {
      const payload = replyPayload(messageIdOf({ dispatchId: of, index }), place);
      expect(repliedMessageOf(payload)).toEqual({ dispatchId: of, index, place });
      expect(payload.length).toBeLessThanOrEqual(128);
      expect(judge({ by: 'quick_reply', text: 'More', payload })).toBeUndefined();
      expect(judge({ by: 'quick_reply', text: 'Unsubscribe from Promos', payload })).toBe('stop');
    }),
  );
});

describe('nothing else is read', () => {
  test.each([
    [undefined],
    [''],
    ['Unsubscribe'],
    [`tm2:${dispatchId}-0:0`],
    [`TM1:${dispatchId}-0:0`],
    [`tm1:${dispatchId}-0`],
    [`tm1:${dispatchId}-0:`],
    [`tm1:${dispatchId}-00:0`],
    [`tm1:${dispatchId}--1:0`],
    [`tm1:${dispatchId}-123456:0`],
    [`tm1:${dispatchId}-0:0.`],
    [`tm1:${dispatchId}-0:0.0.0`],
    [`tm1:${dispatchId}-0:100`],
    [`tm1:${dispatchId}-0:0 `],
    [`tm1:${dispatchId}-0:0\n`],
    [` tm1:${dispatchId}-0:0`],
    [`tm1:${dispatchId.toLowerCase()}-0:0`],
    [`tm1:${dispatchId.slice(1)}-0:0`],
    [`tm1:${dispatchId}#${dispatchId}-0:0`],
  ])('%j', (payload) => {
    expect(repliedMessageOf(payload)).toBeUndefined();
  });

  test('a text that differs in one place reads as what writes it, or not at all', () => {
    const written = replyPayload(`${dispatchId}-17`, { button: 1, card: 9 });
    fc.assert(
      fc.property(
        fc.nat({ max: written.length }),
        fc.nat({ max: 1 }),
        fc.string({ maxLength: 2 }),
        (at, less, more) => {
          const payload = written.slice(0, at) + more + written.slice(at + less);
          const read = repliedMessageOf(payload);
          expect([undefined, payload]).toContain(read && replyPayload(messageIdOf(read), read.place));
        },
      ),
    );
  });
});
