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
])('an answer %i with body %s is one line', (status, body, line) => {
  expect(requestLine({ ...answered, status, body: Buffer.from(body) })).toBe(line);
});

it('knows the lines that the service counts with from those that it logs', () => {
  const metrics = {
    _aws: { Timestamp: 1, CloudWatchMetrics: [] },
    service: 'template-messaging-local',
    MessagesSent: 1,
  };
  expect(isMetricsLine(JSON.stringify(metrics))).toBe(true);
  expect(isMetricsLine(JSON.stringify({ event: 'job.accepted', _aws: {} }))).toBe(false);
});
