import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../lib/http/refusal.ts';
import { parseHeaders, refuseRehearsal } from '../../../lib/http/request-headers.ts';
import { SendHeaders } from '../../../lib/messages/accept/send-headers.ts';
import { MessagesSendHeaders } from '../../../lib/messages/request/send-request.ts';
import { WebhookConfigPutHeaders } from '../../../lib/webhooks/config/config-request.ts';

type Values = Readonly<Record<string, string>>;
const ofSend = (headers: Values) => parseHeaders(MessagesSendHeaders, { headers });
const ofPut = (headers: Values) => parseHeaders(WebhookConfigPutHeaders, { headers });

function faultOf(parsed: () => unknown): string {
  try {
    parsed();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect([error.status, error.code, error.details.errors?.[0]?.message]).toEqual([
      400,
      'invalid_request',
      error.message,
    ]);
    return `${error.details.errors?.[0]?.path} | ${error.message}`;
  }
  throw new Error('it was accepted');
}

describe('headers of a send', () => {
  test.each<[Values, object]>([
    [{}, {}],
    [{ 'dry-run': 'true' }, { 'Dry-Run': 'true' }],
    [{ 'dry-run': 'false' }, { 'Dry-Run': 'false' }],
    [{ 'idempotency-key': 'a' }, { 'Idempotency-Key': 'a' }],
    [{ 'idempotency-key': '~'.repeat(255) }, { 'Idempotency-Key': '~'.repeat(255) }],
    // Browsers, proxies and the platform's own tools send these headers as well.
    [{ authorization: 'Bearer x', 'content-type': 'application/json', dnt: '1', origin: 'null', te: 'trailers' }, {}],
    // The gateway may add a copy of a header; an equal copy is no fault.
    [{ 'idempotency-key': 'a', 'x-idempotency-key': 'b' }, { 'Idempotency-Key': 'a' }],
  ])('%j is read', (headers, read) => {
    expect(ofSend(headers)).toEqual(read);
  });

  test.each([[''], ['a b'], ['é'], ['a\u0000'], ['x'.repeat(256)], [','], ['k,k'], ['k, k']])(
    'Idempotency-Key %j is refused',
    (key) => {
      expect(faultOf(() => ofSend({ 'idempotency-key': key }))).toContain(
        'Idempotency-Key | Idempotency-Key must have 1 to 255 visible ASCII characters without a comma, received "',
      );
    },
  );

  test.each(['', 'True', 'TRUE', '1', '0', 'yes', 'False', ' true', '"true"'])(
    'Dry-Run: %j is no rehearsal and no send (D51)',
    (word) => {
      expect(faultOf(() => ofSend({ 'dry-run': word }))).toBe(
        `Dry-Run | Dry-Run must be true or false, received ${JSON.stringify(word)}`,
      );
    },
  );

  test.each([
    ['Idempotency-Key', 'k'],
    ['Dry-Run', 'true'],
    ['Max-Cost', '25.00'],
    ['Send-At', '2026-11-27T09:00:00Z'],
    ['Send-Window', '09:00-20:00'],
    ['Send-Zone', 'Europe/Madrid'],
  ])('%s that comes twice is refused as such, however the gateway joins it', (name, value) => {
    for (const joined of [`${value},${value}`, `${value}, ${value}`]) {
      const refused = faultOf(() => parseHeaders(SendHeaders, { headers: { [name.toLowerCase()]: joined } }));
      const received = `, received ${JSON.stringify(joined)}`;
      expect(refused).toMatch(new RegExp(`^${name} \\| ${name} must `));
      expect(refused.slice(refused.indexOf(', received'))).toBe(
        `${received}; a header that comes twice is joined by a comma`,
      );
    }
  });

  test.each(['', '-1', '1,50', '1e3', '0x10', 'Infinity', '1.123456789', '123456789', '.5', '5.', ' 5 USD', '٣'])(
    'Max-Cost: %j is no amount (D58)',
    (value) => {
      const refused = faultOf(() => parseHeaders(SendHeaders, { headers: { 'max-cost': value } }));
      expect(refused).toMatch(/^Max-Cost \| Max-Cost must /);
    },
  );

  test.each(['dry_run', 'dryrun', 'x-dry-run', 'dry-runs', 'dryr-un', 'dry-ru'])('nor is the header %s', (name) => {
    expect(faultOf(() => ofSend({ [name]: 'true' }))).toBe(
      `${name} | unrecognized field: ${name}; did you mean Dry-Run?`,
    );
  });

  test.each(['idempotencykey', 'idempotency_key', 'x-idempotency-key', 'idempotency-keys', 'idempotence-key'])(
    'the header %s does not pass for no key (D9)',
    (name) => {
      expect(faultOf(() => ofSend({ [name]: 'a' }))).toBe(
        `${name} | unrecognized field: ${name}; did you mean Idempotency-Key?`,
      );
    },
  );
});

describe('Webhook-Secret-Rotate', () => {
  test('is true, false or absent', () => {
    const asked = ['true', 'false'].map((word) => ofPut({ 'webhook-secret-rotate': word })['Webhook-Secret-Rotate']);
    expect([...asked, ofPut({})['Webhook-Secret-Rotate']]).toEqual(['true', 'false', undefined]);
  });

  test.each(['', 'TRUE', '1', 'true,true', 'yes'])('%j is refused, never half understood', (value) => {
    expect(faultOf(() => ofPut({ 'webhook-secret-rotate': value }))).toMatch(/must be true or false, received "/);
  });

  test('misspelt, it is refused: no client waits for a secret that is not made', () => {
    expect(faultOf(() => ofPut({ 'webhook-secret-rotation': 'true' }))).toMatch(
      /did you mean Webhook-Secret-Rotate\?$/,
    );
  });
});

describe('Dry-Run where nothing can be rehearsed (D51)', () => {
  test.each(['dry-run', 'dry_run', 'x-dry-run'])('%s: true is refused', (name) => {
    for (const headers of [undefined, WebhookConfigPutHeaders]) {
      expect(faultOf(() => refuseRehearsal({ headers: { [name]: 'true' } }, { headers }))).toMatch(
        /\| Dry-Run: this route cannot be rehearsed, only a send can; nothing was done$/,
      );
    }
  });

  test.each(['', '1', 'True', 'false,true'])('nor does %j pass', (word) => {
    expect(() => refuseRehearsal({ headers: { 'dry-run': word } }, {})).toThrow(Refusal);
  });

  test('false passes everywhere, and every word where the page judges it', () => {
    const asked = [
      [{ 'dry-run': 'false', dnt: '1' }, undefined],
      [{ 'dry-run': 'true' }, MessagesSendHeaders],
    ] as const;
    for (const [given, headers] of asked) {
      expect(() => refuseRehearsal({ headers: given }, { headers })).not.toThrow();
    }
  });
});
