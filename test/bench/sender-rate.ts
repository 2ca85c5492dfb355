import { setTimeout as pause } from 'node:timers/promises';
import type { RunningStack } from '../../infra/local/stack.ts';
import { callsOfSender } from '../../lib/messages/sender/number-parts.ts';
import { memoryOf } from './cost/assumed.ts';
import { memoryOfProcessorMb } from './cost/price.ts';
import { report } from './figure.ts';
import type { FunctionProcess } from './function-process.ts';
import { type OwnSenders, ownSenders, wakeEvent } from './own-senders.ts';

const memoriesMb = [256, 512, 1_024] as const;
/** The code is warm before its processor is cut. */
const warmUps = 4;
const warmUpRecipients = 500;
/** More than a sender gets rid of in its measured seconds, with what it must begin with. */
const recipients = 10_000;
const beginsMs = 3_000;
const measuredMs = 8_000;
/** Lambda gives a function its share of a processor in periods of this length. */
const periodMs = 20;

/**
 * Measures how many calls a second one sender of the built bundle makes with the processor of a function of so much
 * memory, on a number that takes more. Its process is stopped for the rest of each period.
 */
export async function benchSenderRate(stack: RunningStack, signal: AbortSignal): Promise<void> {
  for (const memoryMb of memoriesMb) {
    const own = await ownSenders(stack, `sender-rate-${memoryMb}`, signal);
    const { perSecond, processorMs } = await rateOf(own, memoryMb, signal);
    const figure = `sender_rate.calls_at_${memoryMb}_mb`;
    report({ figure, value: perSecond, unit: 'calls a second of this machine' });
    report({ figure: `sender_rate.processor_ms_of_a_call_at_${memoryMb}_mb`, value: processorMs, unit: 'ms' });
    if (memoryMb !== memoryOf('messages-dispatch')) continue;
    const asked = callsOfSender / perSecond;
    report({ figure: 'sender_rate.asked_of_a_sender', value: asked, limit: 1, unit: 'of what it makes' });
  }
}

async function rateOf(own: OwnSenders, memoryMb: number, signal: AbortSignal) {
  const sender = own.start('messages-dispatch');
  try {
    for (let round = 0; round < warmUps; round += 1) {
      await own.accept(warmUpRecipients);
      await sender.run(wakeEvent());
    }
    await own.accept(recipients);
    const quota = cutProcessor(sender, memoryMb / memoryOfProcessorMb);
    const run = sender.run(wakeEvent());
    run.catch(() => undefined);
    await pause(beginsMs, undefined, { signal });
    const before = await own.taken();
    const beganMs = performance.now();
    const usedMs = sender.processorMs();
    await pause(measuredMs, undefined, { signal });
    const calls = (await own.taken()) - before;
    const perSecond = (1_000 * calls) / (performance.now() - beganMs);
    const processorMs = (sender.processorMs() - usedMs) / calls;
    quota.end();
    return { perSecond, processorMs };
  } finally {
    sender.stop();
  }
}

/** Lets the process run for so much of each period. */
function cutProcessor({ signal: tell }: FunctionProcess, share: number): { readonly end: () => void } {
  let isOver = false;
  const cut = async () => {
    while (!isOver) {
      const beganMs = performance.now();
      tell('SIGCONT');
      await pause(share * periodMs);
      tell('SIGSTOP');
      // A timer that came late has given too much: the next period begins later.
      await pause(Math.max(1, (performance.now() - beganMs) * (1 / share - 1)));
    }
    tell('SIGCONT');
  };
  void cut();
  return { end: () => (isOver = true) };
}
