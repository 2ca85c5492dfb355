import { brotliCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queueMessageMaxBytes } from '../../../../lib/aws/queue-body.ts';
import { decodeSendJobMessage, encodeJobMessage, encodeSendJob } from '../../../../lib/messages/accept/send-job.ts';
import { makeJob, makeRecipients } from '../../../support/send-jobs.ts';
import { thorough } from '../../../support/thorough.ts';

const sizes = (messages: readonly string[]) => messages.map((message) => Buffer.byteLength(message));

test('a small job is one message of plain JSON', () => {
  const job = makeJob(makeRecipients(3), { attends: { waitTime: -1 }, campaignId: 10, expiresAtMs: 1_700_000_060_000 });
  const [message = '', ...more] = encodeSendJob(job);
  expect(more).toEqual([]);
  expect(JSON.parse(message)).toEqual({ version: 1, ...job, firstIndex: 0 });
  expect(decodeSendJobMessage(message)).toEqual({ ...job, firstIndex: 0 });
});

test('10,000 recipients with parameters of their own are one message', () => {
  const job = makeJob(makeRecipients(10_000, 60));
  const messages = encodeSendJob(job);
  expect(messages).toHaveLength(1);
  expect(Math.max(...sizes(messages))).toBeLessThanOrEqual(queueMessageMaxBytes);
  expect(decodeSendJobMessage(messages[0] ?? '')).toEqual({ ...job, firstIndex: 0 });
});

test('a job that does not compress enough is cut into parts that fit and lose nobody', () => {
  const job = makeJob(makeRecipients(10_000, 400));
  const messages = encodeSendJob(job);
  expect(messages.length).toBeGreaterThan(1);
  expect(messages.length).toBeLessThanOrEqual(fewestParts(job) + 1);
  expect(Math.max(...sizes(messages))).toBeLessThanOrEqual(queueMessageMaxBytes);
  const parts = messages.map(decodeSendJobMessage);
  expect(parts.map(({ part }) => part)).toEqual(parts.map((_, index) => ({ number: index + 1, of: parts.length })));
  expect(parts.flatMap(({ recipients }) => recipients)).toEqual(job.recipients);
  let next = 0;
  for (const { firstIndex, recipients, head } of parts) {
    expect(firstIndex).toBe(next);
    expect(head).toEqual(job.head);
    next += recipients.length;
  }
});

test('each part fits a message also when the fan-out sends it anew, in a late round of a job that was parked', () => {
  for (const message of encodeSendJob(makeJob(makeRecipients(4_000, 700)))) {
    const anew = encodeJobMessage({ ...decodeSendJobMessage(message), round: 99_999, parkedSeconds: 120 });
    expect(Buffer.byteLength(anew)).toBeLessThanOrEqual(queueMessageMaxBytes);
    expect(decodeSendJobMessage(anew)).toEqual({ ...decodeSendJobMessage(message), round: 99_999, parkedSeconds: 120 });
  }
});

test.each([
  ['of very different size', [...makeRecipients(5_000, 10), ...makeRecipients(700, 4_000)]],
  ['that compress very differently', [...makeRecipients(2_000, 700), ...makeRecipients(2_000, 0, 'a'.repeat(700))]],
])('recipients %s still fit their parts, of which there are few', (_, recipients) => {
  const job = makeJob(recipients);
  const messages = encodeSendJob(job);
  expect(messages.length).toBeGreaterThan(2);
  expect(messages.length).toBeLessThanOrEqual(fewestParts(job) + 1);
  expect(Math.max(...sizes(messages))).toBeLessThanOrEqual(queueMessageMaxBytes);
  expect(messages.flatMap((message) => decodeSendJobMessage(message).recipients)).toEqual(recipients);
});

/** How many messages the compressed job fills. */
function fewestParts(job: ReturnType<typeof makeJob>): number {
  return Math.ceil(encodeJobMessage({ ...job, firstIndex: 0 }).length / queueMessageMaxBytes);
}

const oneOf = (characters: number, letter: string) =>
  makeJob([{ to: '5491100000000', params: { body: [letter.repeat(characters)] } }]);

test.each(['a', 'é'])('a message is plain as long as 512 bytes stay free for a later round (%s)', (letter) => {
  const roomBytes = queueMessageMaxBytes - 512 - Buffer.byteLength(encodeSendJob(oneOf(0, letter))[0] ?? '');
  const most = Math.floor(roomBytes / Buffer.byteLength(letter));
  const [plain = ''] = encodeSendJob(oneOf(most, letter));
  expect(decodeSendJobMessage(plain)).toEqual({ ...oneOf(most, letter), firstIndex: 0 });
  expect([plain.startsWith('{"version":1,"head":'), Buffer.byteLength(plain)]).toEqual([
    true,
    expect.closeTo(1_048_064, -1),
  ]);
  const [compressed = ''] = encodeSendJob(oneOf(most + 1, letter));
  expect(compressed.startsWith('{"version":1,"brotli":')).toBe(true);
});

test.runIf(thorough)('a job that fills its message, so that a later round does not fit in, is two', () => {
  const jobOf = (textBytes: number) => makeJob(makeRecipients(2, textBytes));
  const sizeOf = (textBytes: number) => encodeJobMessage({ ...jobOf(textBytes), firstIndex: 0 }).length;
  let [low, high] = [500_000, 700_000];
  while (high - low > 1 && sizeOf(low) <= queueMessageMaxBytes - 512) {
    const middle = Math.floor((low + high) / 2);
    if (sizeOf(middle) > queueMessageMaxBytes) high = middle;
    else low = middle;
  }
  expect(sizeOf(low)).toBeGreaterThan(queueMessageMaxBytes - 512);
  expect(sizeOf(low)).toBeLessThanOrEqual(queueMessageMaxBytes);
  expect(encodeSendJob(jobOf(low))).toHaveLength(2);
});

test('a recipient that no message can hold is an error, not a loop', () => {
  const [recipient] = makeRecipients(1, 2_000_000);
  if (recipient === undefined) throw new Error('no recipient');
  expect(() => encodeSendJob(makeJob([recipient]))).toThrow('one recipient is larger than a queue message');
});

test('every string comes back exactly, plain and compressed (R22)', () => {
  const padding = makeRecipients(6_000, 150);
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 50 }), { maxLength: 5 }), (body) => {
      const odd = { to: 'US.abc', params: { body: [...body, '\ufffe\uffff🙂'] } };
      const [plain = ''] = encodeSendJob(makeJob([odd]));
      expect(decodeSendJobMessage(plain).recipients).toEqual([odd]);
    }),
  );
  const odd = { to: 'US.abc', params: { body: ['\ufffe\uffff🙂\u0001\ud800'] } };
  const [compressed = ''] = encodeSendJob(makeJob([odd, ...padding]));
  expect(compressed.startsWith('{"version":1,"brotli":')).toBe(true);
  expect(decodeSendJobMessage(compressed).recipients[0]).toEqual(odd);
});

const packed = (value: string) => JSON.stringify({ version: 1, brotli: brotliCompressSync(value).toString('base64') });

const bomb = { version: 1, ...makeJob([{ to: 'x'.repeat(20_000_000) }]), firstIndex: 0 };

test.each([
  ['nothing', ''],
  ['no job', '{"version":1}'],
  ['a job without head', JSON.stringify({ version: 1, ...makeJob([]), firstIndex: 0, head: undefined })],
  ['what is not compressed', JSON.stringify({ version: 1, brotli: 'AAAA' })],
  ['a compressed nothing', packed('{"version":1}')],
  ['a bomb: a job that unpacks to 20 MB', packed(JSON.stringify(bomb))],
])('refuses to read %s', (_what, message) => {
  expect(() => decodeSendJobMessage(message)).toThrow(Error);
});
