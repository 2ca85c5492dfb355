import { orderUpdate } from '../../infra/local/demo/audience.ts';
import { ApiRefusal, call, type DemoClient } from '../../infra/local/demo/client.ts';
import { type LocalTrial, locally } from '../proof/trial/local-trial.ts';
import type { Dispatch } from '../proof/trial/record.ts';
import { bookCommand } from '../proof/trial/run-book.ts';
import { demoNumberId, orderUpdateId } from '../proof/trial/trial.ts';

const recipients = 400;
const section = 'A hold of an account, a number or a template';
const pausedCode = '132015';

async function play(trial: LocalTrial): Promise<void> {
  // Calm: the number sends 80 a second.
  await trial.platform(`POST /_control/numbers/${demoNumberId}`, { throughput: { level: 'STANDARD' } });
  const client = await trial.logIn();
  await client.synchronize();
  const dispatch = await trial.send(client, recipients);
  await trial.midway(recipients / 8);
  const told = (type: string) => [...trial.events.byId.values()].filter((event) => event.type === type).length;

  // Trouble: people have blocked and reported what the template says.
  await trial.platform(`POST /_control/templates/${orderUpdateId}/pause`, {});
  const before = await trial.taken();
  trial.tell('trouble', `the platform has paused the template, ${before} messages were taken`);

  // Told: a line is logged, and the client's own report and webhook say it. No alarm rings, because the template comes
  // back by itself.
  await trial.logged('hold.opened', ({ code }) => code === pausedCode);
  await trial.until(
    'the client is told',
    () => told('dispatch.parked'),
    (count) => count > 0,
  );
  trial.tell('told', `the client got dispatch.parked; its report: ${await waitingIn(dispatch)}`);
  trial.tell('told', `a new send is answered ${await refusalOf(client)}`);

  // End: the operator sees what is held and what the code means, and ends the hold too early: the next message is
  // refused again.
  const held = await trial.operate(bookCommand(section, 'infra/ops holds'));
  if (!held.includes(dispatch.dispatchId)) throw new Error('the command does not name the dispatch that waits');
  const explained = await trial.operate(bookCommand(section, 'infra/ops explain CODE').replace('CODE', pausedCode));
  if (!explained.includes(pausedCode)) throw new Error('the command does not explain the code');
  const ending = bookCommand(section, "infra/ops holds --end '").split("'", 1)[0] ?? '';
  const spelled = held.split('\n').find((line) => line.trim().startsWith(ending));
  if (spelled === undefined) throw new Error('what is held does not come with the line that ends it');
  const opened = trial.countLogged('hold.opened');
  await trial.operate(spelled.trim());
  await trial.until(
    'the hold begins again',
    () => trial.countLogged('hold.opened'),
    (count) => count > opened,
  );
  const since = (await trial.taken()) - before;
  trial.tell('end', `ended too early: the next message was refused and the hold began again; ${since} taken meanwhile`);
  if (since > 0) throw new Error(`the platform took ${since} messages of a paused template`);

  // The cause is removed at the platform: its word ends the hold, and nothing must be started again.
  const token = 'demo-platform-token';
  const { platformUrl: baseUrl } = trial;
  await call({ baseUrl, route: `POST /v25.0/${orderUpdateId}/unpause`, body: {}, token, signal: trial.signal });
  trial.tell('end', 'the template is unpaused on the pages of the platform');
  await trial.logged('hold.ended');

  await trial.proven();
  await trial.until(
    'the client is told',
    () => told('dispatch.resumed'),
    (count) => count > 0,
  );
  trial.tell('proof', 'the client got dispatch.resumed');
  trial.isQuiet('holds');
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

export const templatePaused = locally({
  name: 'template-paused',
  incident: 'the platform pauses a template in the middle of a campaign',
  play,
});
