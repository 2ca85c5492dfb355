import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { parse } from '../../../lib/http/parse.ts';
import { Refusal } from '../../../lib/http/refusal.ts';

function messageOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

const Schema = v.strictObject({
  catalog_id: v.string(),
  limit: v.optional(v.number()),
  nested: v.optional(v.strictObject({ items: v.array(v.strictObject({ to: v.string() })) })),
  kind: v.optional(v.literal('template', 'kind must be template')),
});

function refusalOf(value: unknown): Refusal {
  try {
    parse(Schema, value);
  } catch (error) {
    if (error instanceof Refusal) return error;
  }
  throw new Error('was accepted');
}

describe('every fault is named with its path, what was expected and what came', () => {
  test.each([
    [{}, 'catalog_id is required'],
    [{ catalog_id: null }, 'catalog_id is invalid: expected a text, received null'],
    [{ catalog_id: 5 }, 'catalog_id is invalid: expected a text, received 5'],
    [{ catalog_id: 'c', limit: '5' }, 'limit is invalid: expected a number, received "5"'],
    [{ catalog_id: 'c', colour: 'red' }, 'unrecognized field: colour'],
    [{ catalog_id: 'c', nested: { items: [{ to: '1' }, {}] } }, 'nested.items[1].to is required'],
    [{ catalog_id: 'c', nested: { items: [{ to: '1', x: 1 }] } }, 'unrecognized field: nested.items[0].x'],
    [{ catalog_id: 'c', kind: 'text' }, 'kind must be template'],
  ])('%j -> %s', (value, message) => {
    const refusal = refusalOf(value);
    expect(refusal.status).toBe(400);
    expect(refusal.message).toBe(message);
  });

  test('all faults are listed, not only the first', () => {
    expect(refusalOf({ limit: '5', colour: 'red' }).details.errors?.map((fault) => fault.path)).toEqual([
      'catalog_id',
      'limit',
      'colour',
    ]);
  });

  test('a word that is none of those expected is told with the one that it probably means', () => {
    const Kind = v.strictObject({ type: v.picklist(['image_url', 'video_url']) });
    const message = (type: string) => messageOf(() => parse(Kind, { type }));
    const expected = 'type is invalid: expected image_url or video_url, received';
    expect(message('imageUrl')).toBe(`${expected} "imageUrl"; did you mean image_url?`);
    expect(message('sound')).toBe(`${expected} "sound"`);
  });

  test('a long value is clipped', () => {
    expect(refusalOf({ catalog_id: 'c', limit: 'x'.repeat(10_000) }).message.length).toBeLessThan(200);
  });

  test('what is valid passes', () => {
    expect(parse(Schema, { catalog_id: 'c' })).toEqual({ catalog_id: 'c' });
  });
});
