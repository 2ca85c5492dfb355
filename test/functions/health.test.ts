import { expect, it } from 'vitest';
import { handler } from '../../functions/health.ts';
import { callEndpoint, makeHttpEvent } from '../support/http-event.ts';

it('answers 200 {"status":"ok"} (D10)', async () => {
  expect(await callEndpoint(handler, makeHttpEvent())).toEqual({
    status: 200,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': 'request-1',
    },
    text: '{"status":"ok"}',
    body: { status: 'ok' },
  });
});
