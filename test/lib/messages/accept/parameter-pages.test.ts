import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  maxPageBytes,
  maxRecipientBytes,
  pagesOf,
  parametersExpireAtSeconds,
  recipientsOfPage,
} from '../../../../lib/messages/accept/parameter-pages.ts';
import type { Recipient } from '../../../../lib/messages/dispatch/head.ts';
import { nextParameters } from '../../../../lib/messages/dispatch/items.ts';
import { makeDispatchHead, makeRecipients } from '../../../support/made-dispatches.ts';

function unpackedPages(recipients: readonly Recipient[]) {
  return [...pagesOf(recipients)].map(({ firstIndex, recipients: packed }) => ({
    firstIndex,
    bytes: packed.length,
    recipients: recipientsOfPage(packed),
  }));
}

/** Checks any recipients: no page loses or doubles one, is too large, or crosses into the next partition. */
function hold(recipients: readonly Recipient[]): number {
  const pages = unpackedPages(recipients);
  expect(pages.flatMap((page) => page.recipients)).toEqual(recipients);
  let next = 0;
  for (const { firstIndex, bytes, recipients: some } of pages) {
    expect(firstIndex).toBe(next);
    if (some.length > 1) expect(bytes).toBeLessThanOrEqual(maxPageBytes);
    next += some.length;
    expect(next).toBeLessThanOrEqual(nextParameters(firstIndex));
  }
  return pages.length;
}

describe('the pages of a dispatch', () => {
  test.each<[string, Recipient[], fewest: number, most: number]>([
    ['none', [], 0, 0],
    ['one', makeRecipients(1), 1, 1],
    ['10,000 with everyday parameters', makeRecipients(10_000, 0), 16, 20],
    ['10,000 with 400 letters of their own each', makeRecipients(10_000, 400), 60, 80],
    ['some of a hundred times the size', [...makeRecipients(700, 10), ...makeRecipients(60, 4_000)], 5, 10],
    ['the large ones first', [...makeRecipients(60, 4_000), ...makeRecipients(940, 10)], 5, 10],
    [
      'such as pack very differently',
      [...makeRecipients(250, 0, 'a'.repeat(2_000)), ...makeRecipients(250, 2_000)],
      8,
      14,
    ],
    ['each of which fills a page', makeRecipients(3, 90_000), 3, 3],
  ])('%s: all are there, in few pages', (_, recipients, fewest, most) => {
    const pages = hold(recipients);
    expect(pages).toBeGreaterThanOrEqual(fewest);
    expect(pages).toBeLessThanOrEqual(most);
  });

  test('whatever their sizes and letters (R22)', () => {
    const noise = makeRecipients(1, 60_000)[0]?.params?.body?.[1] ?? '';
    const recipient = fc.record({
      to: fc.stringMatching(/^[1-9]\d{7,14}$/),
      params: fc.record({
        body: fc.array(
          fc.oneof(
            fc.string({ unit: 'binary', maxLength: 50 }),
            fc.nat(60_000).map((length) => noise.slice(0, length)),
          ),
          { maxLength: 2 },
        ),
      }),
    });
    fc.assert(
      fc.property(fc.array(recipient, { maxLength: 15 }), (recipients) => {
        hold(recipients);
      }),
      { numRuns: 30 },
    );
    hold([{ to: 'US.abc', params: { body: ['\ufffe\uffff🙂\u0001\ud800'] } }]);
  });

  test('they are the same when the dispatch is stored once more', () => {
    const recipients = makeRecipients(700, 300);
    expect([...pagesOf(recipients)]).toEqual([...pagesOf(recipients)]);
  });

  test('each is made when it is asked for, and few recipients are written twice for it', () => {
    let written = 0;
    const counted = makeRecipients(10_000, 400).map((recipient) => ({
      ...recipient,
      get to() {
        written += 1;
        return recipient.to;
      },
    }));
    const pages = pagesOf(counted);
    pages.next();
    expect(written).toBeLessThan(500);
    expect([...pages].length).toBeGreaterThan(50);
    expect(written).toBeLessThan(11_000);
  });
});

/** Makes a recipient of this many bytes of JSON, in letters of three bytes each. */
function recipientOf(bytes: number): Recipient {
  const empty = Buffer.byteLength(JSON.stringify({ to: 'US.abc', params: { body: [''] } }));
  const letters = Math.floor((bytes - empty) / 3);
  const rest = bytes - empty - 3 * letters;
  return { to: 'US.abc', params: { body: [`${'한'.repeat(letters)}${'a'.repeat(rest)}`] } };
}

test('a recipient that no item can hold is an error that names it; the largest fits one unpacked', () => {
  hold([recipientOf(maxRecipientBytes)]);
  const bytes = maxRecipientBytes + 1;
  expect(() => [...pagesOf([...makeRecipients(600), recipientOf(bytes)])]).toThrow(
    expect.objectContaining({ name: 'RecipientTooLarge', message: expect.stringContaining('item'), index: 600, bytes }),
  );
});

/** Thirty products with ids of 4,096 letters make the largest recipient that template rules allow. */
test('every recipient that a template can take fits an item', () => {
  const id = '한'.repeat(4_096);
  const sections = Array.from({ length: 10 }, () => ({
    title: '🙂'.repeat(24),
    product_items: Array.from({ length: 3 }, () => ({ product_retailer_id: id })),
  }));
  const action = { thumbnailProductRetailerId: id, sections };
  const params = {
    header: ['🙂'.repeat(60)],
    body: ['🙂'.repeat(1_024)],
    products: [{ type: 'action' as const, action }],
  };
  expect(hold([{ to: `US.${'a'.repeat(128)}`, params }])).toBe(1);
});

describe('parameters are gone seven days after the dispatch has ended at the latest', () => {
  const acceptedAtMs = 1_700_000_000_001;
  test.each([
    ['a day after its acceptance', {}, 1_700_000_001 + 8 * 86_400],
    ['a day, with a shorter time to live', { expiresAtMs: acceptedAtMs + 30_000 }, 1_700_000_001 + 8 * 86_400],
    ['with its time to live', { expiresAtMs: acceptedAtMs + 30 * 86_400_000 }, 1_700_000_001 + 37 * 86_400],
    [
      'after the last possible call, of a send with a time of its own (D56)',
      { expiresAtMs: acceptedAtMs + 60_000, keptUntilMs: acceptedAtMs + (40 + 37) * 86_400_000 },
      1_700_000_001 + 47 * 86_400,
    ],
  ])('%s', (_, head, seconds) => {
    expect(parametersExpireAtSeconds(makeDispatchHead({ acceptedAtMs, ...head }))).toBe(seconds);
  });
});
