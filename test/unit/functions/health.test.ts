import { expect, it } from 'vitest';
import { handler } from '../../../functions/health.ts';

it('answers 200 {"status":"ok"} (D10)', async () => {
  expect(await handler()).toEqual({
    statusCode: 200,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: '{"status":"ok"}',
  });
});
