import * as v from 'valibot';
import { demoDid } from '../../infra/local/demo/audience.ts';
import { demoNumberId, type Game, type GameDay } from './game.ts';
import { bookCommand } from './run-book.ts';

const recipients = 800;
const section = 'A number that is to be slower';
/** The platform lets a number send so much while its owner uses it with the business app too. */
const slowPerSecond = 20;
/**
 * The run book says that the sender sees a slower pace within two seconds; the platform refuses those in flight until then.
 */
const movesWithinMs = 2_000;

const SendingSchema = v.object({
  data: v.array(
    v.object({
      phone_number_id: v.string(),
      limit_per_second: v.number(),
      throttled: v.number(),
      seconds: v.array(v.object({ at: v.string(), accepted: v.number(), throttled: v.number() })),
    }),
  ),
});

async function sending(game: Game) {
  const { data } = v.parse(SendingSchema, await game.platform('GET /_control/sending?limit=0'));
  const found = data.find((number) => number.phone_number_id === demoNumberId);
  if (found === undefined) throw new Error(`the platform has no number ${demoNumberId}`);
  return found;
}

async function play(game: Game): Promise<void> {
  const command = (beginning: string) => bookCommand(section, beginning).replace('DID', demoDid);
  // Calm: the number sends 80 a second.
  await game.platform(`POST /_control/numbers/${demoNumberId}`, { throughput: { level: 'STANDARD' } });
  const client = await game.logIn();
  await client.synchronize();
  await game.send(client, recipients);
  await game.midway(recipients / 8);
  game.isQuiet('numbers-fallen');

  // Trouble: the owner of the number begins to use it with the business app. No webhook tells of that.
  const slowMs = Date.now();
  await game.platform(`POST /_control/numbers/${demoNumberId}`, { is_on_biz_app: true });
  game.tell(
    'trouble',
    `the number may send ${(await sending(game)).limit_per_second} a second, as the platform counts`,
  );

  // Told: the workers log throttles; no alarm rings before a synchronization has read the number.
  await game.logged('send.batch', ({ tally }) => 'retry_throughput' in Object(tally));
  const seen = await game.operate(command('infra/ops number DID'));
  mustSay(seen, /^platform {2}.*in the business app, too$/m, 'that the business app uses the number');
  mustSay(seen, /refused for its pace at/, 'that the platform refuses its pace');

  // End: the service sends what the platform takes, from now on and not by trial.
  const capped = await game.operate(command('infra/ops number DID --limit 20'));
  const cappedMs = Date.now();
  mustSay(capped, new RegExp(`^cap {7}${slowPerSecond} a second until .*, by an operator$`, 'm'), 'the cap');
  await game.until('two hundred more have left', game.takenSince(), (more) => more >= 200);
  const { seconds } = await sending(game);
  const [before, after] = [
    seconds.filter(({ at }) => Date.parse(at) >= slowMs && Date.parse(at) < cappedMs),
    seconds.filter(({ at }) => Date.parse(at) > cappedMs + movesWithinMs),
  ];
  game.tell('proof', `refused for the pace: ${refusedOf(before)} before the cap, ${refusedOf(after)} under it`);
  const [refused, taken] = [sumOf(after, 'throttled'), sumOf(after, 'accepted')];
  if (refused * 20 > taken) throw new Error('more than one in twenty was refused for the pace under the cap');

  // A synchronization reads the number: the ticket rings, and the service knows the limit itself, so the cap can go.
  await client.synchronize();
  await game.rings('numbers-fallen');
  await game.logged('number.fallen', ({ code }) => code === 'throughput');
  const known = await game.operate(command('infra/ops number DID --limit none'));
  mustSay(known, new RegExp(`^limit {5}${slowPerSecond} a second`, 'm'), 'the limit that was read');

  await game.proven();
  await game.quietAgain('numbers-fallen');
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

export const numberSlows: GameDay = {
  name: 'number-slows',
  incident: 'in the middle of a campaign a number may send 20 messages a second and no more',
  play,
};
