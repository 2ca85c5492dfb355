import { describe, expect, test } from 'vitest';
import { parse } from '../../../../lib/http/parse.ts';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { WebhookConfigPutBody } from '../../../../lib/webhooks/config/config-request.ts';
import { eventTypes } from '../../../../lib/webhooks/event.ts';
import cases from '../../http/public-url-cases.json' with { type: 'json' };

function refusalOf(body: unknown): string | undefined {
  try {
    parse(WebhookConfigPutBody, body);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal && error.status === 400) return error.message;
    throw error;
  }
}

test.each(cases as [string, string, string][])('url %s: %s %s (R40)', (url, verdict) => {
  expect(refusalOf({ url }) === undefined ? 'accept' : 'reject').toBe(verdict);
});

test.each([
  ['no url', {}, 'url is required'],
  ['an empty url', { url: '' }, 'url is required'],
  ['a url that is null', { url: null }, 'url must be a text, received null'],
  [
    'a url that is a list',
    { url: ['https://hooks.example.com/'] },
    'url must be a text, received ["https://hooks.example.com/"]',
  ],
  ['plain http', { url: 'http://hooks.example.com/' }, 'url must use https'],
  ['credentials', { url: 'https://me:pass@hooks.example.com/' }, 'url must not carry credentials'],
  ['this machine', { url: 'https://localhost/' }, 'url must name a public host'],
  ['an inner address', { url: 'https://10.1.2.3/' }, 'url must name a public host'],
  ['another port', { url: 'https://hooks.example.com:9443/' }, 'url must use port 443 or 8443'],
  [
    'active as text',
    { url: 'https://hooks.example.com/', active: 'true' },
    'active must be true or false, received "true"',
  ],
  ['active null', { url: 'https://hooks.example.com/', active: null }, 'active must be true or false, received null'],
])('%s is refused', (_, body, message) => {
  expect(refusalOf(body)).toBe(message);
});

test('fields that are not known are refused, the secret too (D6)', () => {
  const url = 'https://hooks.example.com:8443/a?b=c';
  expect(parse(WebhookConfigPutBody, { url })).toEqual({ url });
  expect(refusalOf({ url, secret: 'mine' })).toBe('unrecognized field: secret');
  expect(refusalOf({ url, Active: false })).toBe('unrecognized field: Active; did you mean active?');
});

describe('events (D41)', () => {
  const url = 'https://hooks.example.com/';
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
