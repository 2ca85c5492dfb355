import { demoDid } from '../../infra/local/demo/audience.ts';
import { type LocalTrial, locally } from '../proof/trial/local-trial.ts';
import { sendingAt } from '../proof/trial/record.ts';
import { bookCommand } from '../proof/trial/run-book.ts';
import { demoNumberId } from '../proof/trial/trial.ts';

const recipients = 800;
const section = 'A number that is to be slower';
/** The platform lets a number send so much while its owner uses it with the business app too. */
const slowPerSecond = 20;
/**
 * The run book says that the sender sees a slower pace within two seconds; the platform refuses those in flight until then.
 */
const movesWithinMs = 2_000;

async function sending(trial: LocalTrial) {
  const { data } = await sendingAt(trial.platformUrl, trial.signal);
  const found = data.find((number) => number.phone_number_id === demoNumberId);
  if (found === undefined) throw new Error(`the platform has no number ${demoNumberId}`);
  return found;
}

async function play(trial: LocalTrial): Promise<void> {
  const command = (beginning: string) => bookCommand(section, beginning).replace('DID', demoDid);
  // Calm: the number sends 80 a second.
  await trial.platform(`POST /_control/numbers/${demoNumberId}`, { throughput: { level: 'STANDARD' } });
  const client = await trial.logIn();
  await client.synchronize();
  await trial.send(client, recipients);
  await trial.midway(recipients / 8);
  trial.isQuiet('numbers-fallen');

  // Trouble: the owner of the number begins to use it with the business app. No webhook tells of that.
  const slowMs = Date.now();
  await trial.platform(`POST /_control/numbers/${demoNumberId}`, { is_on_biz_app: true });
  trial.tell(
    'trouble',
    `the number may send ${(await sending(trial)).limit_per_second} a second, as the platform counts`,
  );

  // Told: the command shows throttles at once, the log at the end of the run; no alarm rings before a synchronization has
  // read the number.
  await trial.until(
    'the platform has refused a call for its pace',
    async () => (await sending(trial)).throttled,
    (throttled) => throttled > 0,
  );
  const seen = await trial.operate(command('infra/ops number DID'));
  mustSay(seen, /^platform {2}.*in the business app, too$/m, 'that the business app uses the number');
  mustSay(seen, /throttled at/, 'that the platform refuses its pace');

  // End: the service sends what the platform takes, from now on and not by trial.
  const capped = await trial.operate(command('infra/ops number DID --limit 20'));
  const cappedMs = Date.now();
  mustSay(capped, new RegExp(`^cap {7}${slowPerSecond} a second until .*, by an operator$`, 'm'), 'the cap');
  await trial.until('two hundred more have left', trial.takenSince(), (more) => more >= 200);
  const { seconds } = await sending(trial);
  const [before, after] = [
    seconds.filter(({ at }) => Date.parse(at) >= slowMs && Date.parse(at) < cappedMs),
    seconds.filter(({ at }) => Date.parse(at) > cappedMs + movesWithinMs),
  ];
  trial.tell('proof', `refused for the pace: ${refusedOf(before)} before the cap, ${refusedOf(after)} under it`);
  const [refused, taken] = [sumOf(after, 'throttled'), sumOf(after, 'accepted')];
  if (refused * 20 > taken) throw new Error('more than one in twenty was refused for the pace under the cap');

  // A synchronization reads the number: the ticket rings, and the service knows the limit itself, so the cap can go.
  await client.synchronize();
  await trial.rings('numbers-fallen');
  await trial.logged('number.fallen', ({ code }) => code === 'throughput');
  const known = await trial.operate(command('infra/ops number DID --limit none'));
  mustSay(known, new RegExp(`^limit {5}${slowPerSecond} a second`, 'm'), 'the limit that was read');

  await trial.proven();
  await trial.logged('send.batch', ({ tally }) => 'retry_throughput' in Object(tally));
  await trial.quietAgain('numbers-fallen');
}

function mustSay(output: string, wanted: RegExp, what: string): void {
  if (!wanted.test(output)) throw new Error(`the command does not say ${what}`);
}

type Second = Readonly<Record<'accepted' | 'throttled', number>>;

const sumOf = (seconds: readonly Second[], what: keyof Second) =>
  seconds.reduce((sum, second) => sum + second[what], 0);

function refusedOf(seconds: readonly Second[]): string {
  const refused = sumOf(seconds, 'throttled');
  return `${refused} of ${refused + sumOf(seconds, 'accepted')} calls in ${seconds.length} s`;
}

export const numberSlows = locally({
  name: 'number-slows',
  incident: 'in the middle of a campaign a number may send 20 messages a second and no more',
  play,
});
