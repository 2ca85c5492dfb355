import { expect, test } from 'vitest';
import type { ReportedState } from '../../lib/messages/receipts/reported-state.ts';
import { audited, auditOf } from './send-audit.ts';

const told = (index: number, state: ReportedState, code?: string) => ({
  messageId: `J-${index}`,
  state,
  code,
});
const taken = (index: number) => ({ messageId: `J-${index}`, to: `549${index}` });

test('every recipient reached once, and one unknown: as it must be', () => {
  const audit = auditOf([told(0, 'read'), told(1, 'sent'), told(2, 'unknown', 'no_answer')], [taken(1), taken(0)]);
  expect(audit).toMatchObject({ recipients: 3, reached: 2, duplicates: 0, strays: 0 });
  expect(audit.unknownNeverTaken).toEqual([told(2, 'unknown', 'no_answer')]);
  expect(audited(audit)).toEqual([]);
});

test.each([
  ['one message id twice', 'read', [taken(0), taken(0)], '1 messages were sent twice'],
  [
    'one recipient under two message ids',
    'read',
    [taken(0), { messageId: 'J-0b', to: '5490' }],
    '1 messages were sent twice\n1 messages belong to no recipient',
  ],
  ['told as sent', 'sent', [], '1 were never sent, and no report says that this is unknown: 1 sent (J-0)'],
  ['waiting for ever', 'pending', [], '1 were never sent, and no report says that this is unknown: 1 pending (J-0)'],
  ['refused', 'failed', [], '1 were never sent, and no report says that this is unknown: 1 failed (J-0)'],
  ['no receipt settled it', 'unknown', [taken(0)], '1 are unknown although the platform took them: 1 unknown (J-0)'],
  ['denied', 'failed', [taken(0)], '1 are told as not sent although the platform took them: 1 failed (J-0)'],
  ['without a message id', 'unknown', [{ messageId: undefined, to: '5491' }], '1 messages belong to no recipient'],
] as const)('%s', (_, state, messages, sentences) => {
  expect(audited(auditOf([told(0, state)], messages)).join('\n')).toBe(sentences);
});

test('a row of the report with another recipient does not belong to that message', () => {
  const rows = [
    { ...told(0, 'read'), to: '+5490' },
    { ...told(1, 'read'), to: '5490' },
  ];
  expect(audited(auditOf(rows, [taken(0), taken(1)]))).toEqual([
    '1 are told of somebody else than the platform sent to: 1 read (J-1)',
  ]);
});

test('endings are counted, five are shown, and that there are more', () => {
  const many = Array.from({ length: 6 }, (_, index) => told(index, 'failed', '132015'));
  expect(audited(auditOf([...many, told(6, 'pending')], []))).toEqual([
    '7 were never sent, and no report says that this is unknown: 6 failed 132015, 1 pending (J-0 J-1 J-2 J-3 J-4 ...)',
  ]);
});
