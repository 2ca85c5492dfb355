import { expect, test } from 'vitest';
import { asJson, jobLines } from '../../../infra/operate/outcomes-output.ts';
import { makeJobHead } from '../../support/send-jobs.ts';

test.each([
  ['5491155550001', undefined],
  ['US.1', '16505551234'],
])('programs are told of %s how the platform names the person, as the report tells it (D40)', (to, waId) => {
  const outcome = { dispatchId: 'J-0', position: 0, state: 'read', to, userId: 'US.1', waId: '16505551234' } as const;
  const job = { head: makeJobHead(), repeats: [], recipients: new Map([[0, to]]) };
  const { data } = asJson({ job, outcomes: [outcome], shown: [outcome] });
  expect(data).toMatchObject([{ message_id: 'J-0', index: 0, to, user_id: 'US.1', state: 'read' }]);
  expect(data[0]?.wa_id).toBe(waId);
});

test('the end of a job’s wait for a hold depends on its hours (D46, D56)', () => {
  const hourMs = 3_600_000;
  const sinceMs = Date.parse('2026-11-20T09:00:00Z');
  const open = [0, 1, 2].map((day) => {
    const fromMs = sinceMs + day * 24 * hourMs;
    return [fromMs, fromMs + 10 * hourMs] as const;
  });
  const parked = { code: '131042', scope: 'waba', sinceMs } as const;
  const job = {
    head: makeJobHead({ total: 1 }),
    repeats: [],
    recipients: new Map(),
    parked,
    lots: [{ until: 1, open }],
  };
  const found = { job, outcomes: [], shown: [] };
  expect(asJson(found).parked).toMatchObject({ until: '2026-11-22T13:00:00.000Z' });
  expect(jobLines([found])[0]).toContain('until 2026-11-22T13:00:00.000Z at most');
});
