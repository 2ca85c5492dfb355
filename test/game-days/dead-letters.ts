import { setTimeout as pause } from 'node:timers/promises';
import { straightRecipients } from '../../lib/messages/dispatch/call-facts.ts';
import { pidsOf, killed as wasKilled } from '../proof/trial/kill.ts';
import { type LocalTrial, locally } from '../proof/trial/local-trial.ts';
import { bookCommand } from '../proof/trial/run-book.ts';
import { demoNumberId } from '../proof/trial/trial.ts';

/** Each is of ten recipients, which a worker calls itself while the number has places. */
const requests = { calm: 3, troubled: 12 };
const worker = 'messages-dispatch-urgent';
/** A process takes longer than this to start and to call the platform. */
const lifeMs = 300;
/** Five deliveries would wait too long for the deployed six minutes. */
const visibilitySeconds = 3;

/**
 * Kills each busy process of the worker, as Lambda does when memory runs out, until the signal: the first in the middle
 * of its calls, the others before any call. Returns the number of kills.
 */
async function killWorkers(trial: LocalTrial, signal: AbortSignal): Promise<number> {
  const begun = new Map<number, { readonly atMs: number; readonly taken: number }>();
  let killed = 0;
  while (!signal.aborted) {
    const taken = await trial.taken();
    for (const pid of pidsOf(trial.stack, worker)) {
      const { atMs, taken: before } = begun.get(pid) ?? { atMs: performance.now(), taken };
      begun.set(pid, { atMs, taken: before });
      if (killed === 0 ? taken === before : performance.now() - atMs < lifeMs) continue;
      begun.delete(pid);
      if (wasKilled(pid)) killed += 1;
    }
    await pause(20, undefined, { signal }).catch(() => undefined);
  }
  return killed;
}

async function play(trial: LocalTrial): Promise<void> {
  const { queues } = trial;
  const deadOf = async () => (await queues.dead()).get('urgent') ?? 0;
  // Calm: the number sends 80 a second, so that requests have a middle.
  await trial.platform(`POST /_control/numbers/${demoNumberId}`, { throughput: { level: 'STANDARD' } });
  await queues.shortenVisibility(visibilitySeconds);
  const client = await trial.logIn();
  await client.synchronize();
  const sendRequests = async (count: number) => {
    for (let sent = 0; sent < count; sent += 1) await trial.send(client, straightRecipients);
  };
  await sendRequests(requests.calm);
  await trial.until(
    'they have left',
    () => trial.taken(),
    (taken) => taken === requests.calm * straightRecipients,
  );
  trial.isQuiet('urgent-dead-letters');

  // Trouble: a version of the worker dies of each message that it takes.
  trial.tell(
    'trouble',
    `every busy ${worker} is killed; its messages come again after ${visibilitySeconds} s instead of 6 min`,
  );
  const whenBroken = await trial.taken();
  const mended = new AbortController();
  const killing = killWorkers(trial, AbortSignal.any([trial.signal, mended.signal]));
  killing.catch(() => undefined);
  await sendRequests(requests.troubled);
  const left = () => queues.held(['urgent']);
  await trial.until(
    'what waits has died',
    async () => [await left(), await deadOf()],
    ([waits]) => waits === 0,
  );
  const dead = await deadOf();
  const taken = await trial.taken();
  if (taken === whenBroken) throw new Error('no worker has died in the middle of its calls');

  // Told: the alarm rings. A killed process writes no line: Lambda does, and its errors are another alarm.
  await trial.rings('urgent-dead-letters');
  mended.abort();
  trial.tell('trouble', `${await killing} workers were killed; ${dead} dead letters, ${taken} messages have left`);
  if (dead < 2) throw new Error('too few dead letters to send one of them ahead');

  // End: a dry run judges the letters; one is sent again to see whether the cause is mended, then all.
  const looked = await trial.operate(
    bookCommand('Dead letters', 'infra/ops redrive QUEUE').replace('QUEUE', 'urgent'),
    { status: 3 },
  );
  for (const words of [`urgent: ${dead} dead letters`, 'again', 'is not called again', 'nothing was sent'])
    if (!looked.includes(words)) throw new Error(`the dry run does not say "${words}"`);
  if ((await trial.taken()) !== taken || (await deadOf()) !== dead) throw new Error('the dry run has done something');
  await trial.operate(bookCommand('Dead letters', 'infra/ops redrive urgent --stage prod --yes --at-most'));
  if ((await deadOf()) !== dead - 1) throw new Error('other than one letter was sent again');
  await trial.until('that one is worked off', left, (waits) => waits === 0);
  if ((await deadOf()) !== dead - 1) throw new Error('it has died again');
  await trial.operate(bookCommand('Dead letters', 'infra/ops redrive urgent --stage prod --yes'));

  // Proof: recipients that were called before a worker died are not called again, and all others are.
  await trial.proven();
  await trial.quietAgain('urgent-dead-letters');
}

export const deadLetters = locally({
  name: 'dead-letters',
  incident: 'workers of small requests die of every message that they take, until what waits is dead letters',
  play,
});
