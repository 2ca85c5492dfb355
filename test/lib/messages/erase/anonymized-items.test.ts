import { expect, test } from 'vitest';
import { acceptedItem, dispatchOfAcceptedItem } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { sharedWithout } from '../../../../lib/messages/erase/anonymized-items.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';

test('the header that all were sent is kept for some of them, and goes once all are erased (D56, D60)', () => {
  const header = { type: 'document_url', value: 'https://example.com/5491155550001.pdf' } as const;
  const item = acceptedItem({ ...makeDispatch(makeRecipients(2)), header });
  const ids = new Set(['5491155550001']);
  expect(sharedWithout(item, { ids, whole: false })).toBeUndefined();
  const change = sharedWithout(item, { ids, whole: true });
  const left = { ...item, ...change };
  expect(dispatchOfAcceptedItem(item)).toMatchObject({ header });
  expect(dispatchOfAcceptedItem(left)).not.toMatchObject({ header: expect.anything() });
  expect(JSON.stringify(left)).not.toContain('5491155550001');
  expect(sharedWithout(left, { ids, whole: true })).toBeUndefined();
});
