import { expect, test } from 'vitest';
import { asJson } from '../../../infra/operate/outcomes-shown.ts';
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
