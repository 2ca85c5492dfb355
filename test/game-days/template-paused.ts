import { orderUpdate } from '../../infra/local/demo/audience.ts';
import { ApiRefusal, call, type DemoClient } from '../../infra/local/demo/client.ts';
import { receiverUrl } from '../../infra/local/webhook-receiver.ts';
import { type Dispatch, pausedTemplateId } from '../faults/running/campaign.ts';
import { receiveEvents, type ToldEvents } from '../faults/running/told-events.ts';
import { demoNumberId, type Game, type GameDay } from './game.ts';
import { bookCommand } from './run-book.ts';

const recipients = 400;
const section = 'A hold of an account, a number or a template';
const pausedCode = '132015';

async function play(game: Game): Promise<void> {
  // Calm: the number sends 80 a second, and a webhook tells the client.
  await game.platform(`POST /_control/numbers/${demoNumberId}`, { throughput: { level: 'STANDARD' } });
  const client = await game.logIn();
  await client.synchronize();
  const secret = client.receiveEvents(receiverUrl, ['dispatch.parked', 'dispatch.resumed']);
  const events = await receiveEvents(game.stack.addresses.webhookReceiverPort, Promise.all([secret]));
  try {
    const dispatch = await game.send(client, recipients);
    await game.midway(recipients / 8);
    await paused(game, { client, dispatch, events });
  } finally {
    await events.stop();
  }
}

interface Campaign {
  readonly client: DemoClient;
  readonly dispatch: Dispatch;
  readonly events: ToldEvents;
}

async function paused(game: Game, { client, dispatch, events }: Campaign): Promise<void> {
  const told = (type: string) => [...events.byId.values()].filter((event) => event.type === type).length;

  // Trouble: people have blocked and reported what the template says.
  await game.platform(`POST /_control/templates/${pausedTemplateId}/pause`, {});
  const before = await game.taken();
  game.tell('trouble', `the platform has paused the template, ${before} messages were taken`);

  // Told: a line is logged, and the client's own report and webhook say it. No alarm rings, because the template comes
  // back by itself.
  await game.logged('hold.opened', ({ code }) => code === pausedCode);
  await game.until(
    'the client is told',
    () => told('dispatch.parked'),
    (count) => count > 0,
  );
  game.tell('told', `the client got dispatch.parked; its report: ${await waitingIn(dispatch)}`);
  game.tell('told', `a new send is answered ${await refusalOf(client)}`);

  // End: the operator sees what is held and what the code means, and ends the hold too early: the next message is
  // refused again.
  const held = await game.operate(bookCommand(section, 'infra/ops holds'));
  if (!held.includes(dispatch.dispatchId)) throw new Error('the command does not name the dispatch that waits');
  const explained = await game.operate(bookCommand(section, 'infra/ops explain CODE').replace('CODE', pausedCode));
  if (!explained.includes(pausedCode)) throw new Error('the command does not explain the code');
  const ending = bookCommand(section, "infra/ops holds --end '").split("'", 1)[0] ?? '';
  const spelled = held.split('\n').find((line) => line.trim().startsWith(ending));
  if (spelled === undefined) throw new Error('what is held does not come with the line that ends it');
  const opened = game.countLogged('hold.opened');
  await game.operate(spelled.trim());
  await game.until(
    'the hold begins again',
    () => game.countLogged('hold.opened'),
    (count) => count > opened,
  );
  const since = (await game.taken()) - before;
  game.tell('end', `ended too early: the next message was refused and the hold began again; ${since} taken meanwhile`);
  if (since > 0) throw new Error(`the platform took ${since} messages of a paused template`);

  // The cause is removed at the platform: its word ends the hold, and nothing must be started again.
  const token = 'demo-platform-token';
  const { platformUrl: baseUrl } = game.stack.addresses;
  await call({ baseUrl, route: `POST /v25.0/${pausedTemplateId}/unpause`, body: {}, token, signal: game.signal });
  game.tell('end', 'the template is unpaused on the pages of the platform');
  await game.logged('hold.ended');

  await game.proven();
  await game.until(
    'the client is told',
    () => told('dispatch.resumed'),
    (count) => count > 0,
  );
  game.tell('proof', 'the client got dispatch.resumed');
  game.isQuiet('holds');
}

/** Returns a text such as `350 of 400 pending, template_paused`. */
async function waitingIn({ client, did, dispatchId }: Dispatch): Promise<string> {
  const rows = await client.rows(did, dispatchId);
  const waiting = rows.filter(({ state, code }) => state === 'pending' && code === 'template_paused').length;
  if (waiting === 0) throw new Error('no recipient in the report waits for the template');
  return `${waiting} of ${rows.length} pending, template_paused`;
}

/** Sends without waiting for the end of the pause, as a client does, and returns its refusal. */
async function refusalOf(client: DemoClient): Promise<string> {
  try {
    const { did } = await client.channel();
    const recipient = { to: '5491199900001', params: { body: ['Ana', '1'], buttons: ['1'] } };
    await client.send({ did, template: orderUpdate, recipients: [recipient] });
  } catch (error) {
    if (error instanceof ApiRefusal && error.status < 500) return error.message.replace(/^.*was answered /, '');
    throw error;
  }
  throw new Error('a send of a paused template was accepted');
}

export const templatePaused: GameDay = {
  name: 'template-paused',
  incident: 'the platform pauses a template in the middle of a campaign',
  play,
};
