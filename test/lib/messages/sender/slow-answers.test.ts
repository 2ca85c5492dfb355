import { expect, test } from 'vitest';
import { notingSilence } from '../../../../lib/messages/sender/slow-answers.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

test.each([
  [999, []],
  [1_001, ['1']],
])('an answer after %i ms leaves a note at its number: %j (D44)', async (answerMs, noted) => {
  const time = new VirtualTime(0);
  const awaited: string[] = [];
  const pause = (ms: number) => time.sleep(ms);
  const learning = {
    slowDown: async () => undefined,
    refused: async () => undefined,
    awaited: async ({ phoneNumberId }: { phoneNumberId: string }) => void awaited.push(phoneNumberId),
  };
  const answer = async () => await time.sleep(answerMs).then(() => ({ platformMessageId: 'p' }));
  const send = notingSilence(answer, { pause, learning });
  const posting = { wabaId: '2', phoneNumberId: '1', path: 'messages', credential: 'main', request: {} } as const;
  const sent = send(posting);
  await time.pass(() => false);
  expect([await sent, awaited]).toEqual([{ platformMessageId: 'p' }, noted]);
});
