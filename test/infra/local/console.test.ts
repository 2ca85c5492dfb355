import { expect, it } from 'vitest';
import { isMetricsLine, requestLine } from '../../../infra/local/console.ts';

const answered = {
  method: 'GET',
  path: '/v1/templates',
  status: 200,
  body: Buffer.from('{"code":"x"}'),
  durationMs: 11.7,
};

it.each([
  [200, '{"code":"x"}', 'GET /v1/templates 200 12 ms'],
  [400, '{"message":"size is wrong","code":"invalid_request"}', 'GET /v1/templates 400 invalid_request 12 ms'],
  [404, '{"message":"Not Found"}', 'GET /v1/templates 404 12 ms'],
  [401, '', 'GET /v1/templates 401 12 ms'],
  [502, '<html>', 'GET /v1/templates 502 12 ms'],
  [500, 'null', 'GET /v1/templates 500 12 ms'],
  [
    503,
    '{"message":"Service Unavailable"}',
    'GET /v1/templates 503 12 ms (too slow for the gateway; the function goes on)',
  ],
  [503, '{"code":"unavailable"}', 'GET /v1/templates 503 unavailable 12 ms'],
])('an answer %i with body %s is one line', (status, body, line) => {
  expect(requestLine({ ...answered, status, body: Buffer.from(body) })).toBe(line);
});

it.each([
  ['GET', '/v1/template', 'GET /v1/templates'],
  ['GET', '/templates', 'GET /v1/templates'],
  ['POST', '/v1/campaigns', 'GET /v1/campaigns'],
  ['GET', '/v1/client-mesaging-channel', 'GET /v1/client-messaging-channels'],
  ['POST', '/v1/template/mesages/5491100000001', 'POST /v1/template/messages/{did}'],
  ['PATCH', '/v1/webhook/config', 'PUT /v1/webhook/config or GET /v1/webhook/config'],
])('%s %s, which is no route, is told with the one that is meant', (method, path, meant) => {
  const line = requestLine({ ...answered, method, path, status: 404, body: Buffer.from('{"message":"Not Found"}') });
  expect(line).toBe(`${method} ${path} 404 12 ms (no such route; did you mean ${meant}?)`);
});

it.each([
  ['a path that is like none', '/favicon.ico', '{"message":"Not Found"}'],
  ['a template that is not there', '/v1/templates/x/channel-campaigns', '{"code":"template_not_found"}'],
])('%s has no hint', (_, path, body) => {
  expect(requestLine({ ...answered, path, status: 404, body: Buffer.from(body) })).not.toContain('did you mean');
});

it('knows the lines that the service counts with from those that it logs', () => {
  const metrics = {
    _aws: { Timestamp: 1, CloudWatchMetrics: [] },
    service: 'template-messaging-local',
    MessagesSent: 1,
  };
  expect(isMetricsLine(JSON.stringify(metrics))).toBe(true);
  expect(isMetricsLine(JSON.stringify({ event: 'dispatch.accepted', _aws: {} }))).toBe(false);
});
