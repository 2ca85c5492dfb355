import { expect, test } from 'vitest';
import { batchLog } from '../../../../lib/messages/send/batch-log.ts';
import { correlated, correlationId } from '../../../../lib/observe/correlation.ts';

/** The log of a run is one line for what became of its messages (R15). */

function linesOf(...requests: readonly (string | undefined)[]): unknown[] {
  const lines: unknown[] = [];
  const { log, end } = batchLog({ log: (event, facts) => void lines.push([event, facts, correlationId()]) });
  for (const id of requests) {
    correlated(id, () => {
      log('send.sent', { messageId: 'J-0' });
      log('send.retry', { code: 'throughput' });
      log('send.claim_failed', { error: 'Error' });
    });
  }
  end(requests.length);
  return lines;
}

test('sums have the event and its code or error, under the id of the one request', () => {
  const tally = { sent: 1, retry_throughput: 1, claim_failed_Error: 1 };
  expect(linesOf('one')).toEqual([['send.batch', { count: 1, tally }, 'one']]);
  expect(linesOf(undefined)).toEqual([['send.batch', { count: 1, tally }, undefined]]);
});

test('of several requests, with their ids', () => {
  const tally = { sent: 3, retry_throughput: 3, claim_failed_Error: 3 };
  const facts = { count: 3, tally, correlationIds: ['one', 'two'] };
  expect(linesOf('one', 'two', 'one')).toEqual([['send.batch', facts, undefined]]);
});

test('of nothing there is no line, and what failed or may have been taken has a line of its own at once', () => {
  expect(linesOf()).toEqual([]);
  const lines: unknown[] = [];
  const { log, end } = batchLog({ log: (event) => void lines.push(event) });
  log('send.unknown', { messageId: 'J-0' });
  expect(lines).toEqual(['send.unknown']);
  end(1);
  expect(lines).toEqual(['send.unknown']);
});
