import { describe, expect, test } from 'vitest';
import { parse } from '../../../../lib/http/parse.ts';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { WebhookConfigPutBody } from '../../../../lib/webhooks/config/config-request.ts';
import { eventTypes } from '../../../../lib/webhooks/event.ts';

function refusalOf(body: unknown): string | undefined {
  try {
    parse(WebhookConfigPutBody, body);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal && error.status === 400) return error.message;
    throw error;
  }
}

const url = 'https://hooks.example.com/';

// Which URLs are public is in test/lib/http/public-url.test.ts (R40).
test.each<readonly [object, string]>([
  [{}, 'url is required'],
  [{ url: '' }, 'url is required'],
  [{ url: null }, 'url must be a text, received null'],
  [{ url: [url] }, `url must be a text, received ["${url}"]`],
  [{ url: 'http://hooks.example.com/' }, 'url must use https'],
  [{ url: 'https://me:pass@hooks.example.com/' }, 'url must not carry credentials'],
  [{ url: 'https://10.1.2.3/' }, 'url must name a public host'],
  [{ url: 'https://hooks.example.com:9443/' }, 'url must use port 443 or 8443'],
  [{ url, active: 'true' }, 'active must be true or false, received "true"'],
  [{ url, active: null }, 'active must be true or false, received null'],
  [{ url, secret: 'mine' }, 'unrecognized field: secret'],
  [{ url, Active: false }, 'unrecognized field: Active; did you mean active?'],
])('%j is refused: %s (D6)', (body, message) => {
  expect(refusalOf(body)).toBe(message);
});

test('another path, a query and port 8443 are taken', () => {
  const other = { url: 'https://hooks.example.com:8443/a?b=c' };
  expect(parse(WebhookConfigPutBody, other)).toEqual(other);
});

describe('events (D41)', () => {
  const taken = (events: unknown) => parse(WebhookConfigPutBody, { url, events }).events;

  test('a list of kinds, as given; twice is once; an empty one means none', () => {
    expect(taken(['message.read', 'message.failed', 'message.read'])).toEqual(['message.read', 'message.failed']);
    expect(taken([])).toEqual([]);
    expect(taken(eventTypes)).toEqual(eventTypes);
    expect(taken(undefined)).toBeUndefined();
  });

  test.each<[unknown, string]>([
    [['message.delivred'], 'events: message.delivred is no kind of event; did you mean message.delivered?'],
    [['sync.completed', 'Message.Read'], 'events: Message.Read is no kind of event; did you mean message.read?'],
    [['*'], 'events: * is no kind of event'],
    [[''], 'events:  is no kind of event'],
    [[null], 'events must be a list of kinds of event, received null'],
    ['message.read', 'events is invalid: expected a list, received "message.read"'],
    [null, 'events is invalid: expected a list, received null'],
    [{ 0: 'message.read' }, 'events is invalid: expected a list, received {"0":"message.read"}'],
  ])('%j is refused', (events, message) => {
    expect(refusalOf({ url, events })).toBe(message);
  });

  test('an endless one is measured before it is read', () => {
    const faults = refusalOf({ url, events: Array.from({ length: 101 }, () => 'message.read') });
    expect(faults).toBe('events is invalid: expected at most 100 items, received 101');
  });
});
