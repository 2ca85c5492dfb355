import type { SQSRecord } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { recordOf, recordsDone, withinPayloadLimit } from '../../../infra/local/sqs-event.ts';

const queueArn = 'arn:aws:sqs:us-east-1:000000000000:dispatches';
const record = (messageId: string, body = ''): SQSRecord => recordOf({ MessageId: messageId, Body: body }, queueArn);

test('a record is what Lambda makes of a message', () => {
  const attributes = {
    ApproximateReceiveCount: '2',
    SentTimestamp: '1700000000000',
    SenderId: '000000000000',
    ApproximateFirstReceiveTimestamp: '1700000000001',
    MessageGroupId: '1001',
  };
  expect(
    recordOf(
      {
        MessageId: 'id',
        ReceiptHandle: 'handle',
        Body: 'body',
        MD5OfBody: '841a2d689ad86bd1611447453c22c6fc',
        MD5OfMessageAttributes: 'md5',
        Attributes: attributes,
        MessageAttributes: {
          kind: { DataType: 'String', StringValue: 'text' },
          bytes: { DataType: 'Binary', BinaryValue: Uint8Array.of(1, 2, 3) },
        },
      },
      queueArn,
    ),
  ).toEqual({
    messageId: 'id',
    receiptHandle: 'handle',
    body: 'body',
    attributes,
    messageAttributes: {
      kind: { stringValue: 'text', stringListValues: [], binaryListValues: [], dataType: 'String' },
      bytes: { binaryValue: 'AQID', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
    },
    md5OfBody: '841a2d689ad86bd1611447453c22c6fc',
    md5OfMessageAttributes: 'md5',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: 'us-east-1',
  });
});

describe('R18: which records of a, b, c are done', () => {
  const failing = (...ids: unknown[]) => ({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });
  test.each<[string, unknown, string]>([
    ['no answer', undefined, 'abc'],
    ['null', null, 'abc'],
    ['an empty object', {}, 'abc'],
    ['a null list', { batchItemFailures: null }, 'abc'],
    ['an empty list', failing(), 'abc'],
    ['one failure', failing('b'), 'ac'],
    ['one failure named twice', failing('b', 'b'), 'ac'],
    ['all failed', failing('a', 'b', 'c'), ''],
    ['an empty identifier', failing('b', ''), ''],
    ['a null identifier', failing(null), ''],
    ['an unknown identifier', failing('b', 'x'), ''],
    ['another key', { batchItemFailures: [{ messageId: 'b' }] }, ''],
    ['no list', { batchItemFailures: 'b' }, ''],
    ['text', 'done', ''],
    ['an array', [], ''],
  ])('%s', (_, answer, done) => {
    const records = ['a', 'b', 'c'].map((id) => record(id));
    expect(
      recordsDone(records, answer)
        .map(({ messageId }) => messageId)
        .join(''),
    ).toBe(done);
  });
});

describe('the payload limit', () => {
  test('a batch within it stays whole, one above it is cut, order kept', () => {
    const records = ['a', 'b', 'c', 'd', 'e'].map((id) => record(id, 'x'.repeat(1_000)));
    const size = (batch: readonly SQSRecord[]) => Buffer.byteLength(JSON.stringify({ Records: batch }));
    const limit = size(records.slice(0, 2)) + 100;
    const batches = withinPayloadLimit(records, limit);
    expect(batches.map((batch) => batch.map(({ messageId }) => messageId))).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    for (const batch of batches) expect(size(batch)).toBeLessThanOrEqual(limit);
    expect(withinPayloadLimit(records)).toEqual([records]);
  });

  test('a record above it goes alone, for the runner to refuse', () => {
    const batches = withinPayloadLimit([record('a', 'x'.repeat(50)), record('b'), record('c')], 60);
    expect(batches.map((batch) => batch.length)).toEqual([1, 1, 1]);
  });
});
