import { type LocalTrial, locally } from '../proof/trial/local-trial.ts';
import { bookCommand } from '../proof/trial/run-book.ts';
import { demoNumberId, demoWabaId } from '../proof/trial/trial.ts';

const recipients = 400;
const oldToken = 'demo-platform-token';
/** The operator makes this token at the platform. */
const newToken = 'game-day-platform-token';
const wabaIds = ['200000000000001', '200000000000002'];

async function play(trial: LocalTrial): Promise<void> {
  // Calm: the number sends 80 a second, so that the campaign has a middle.
  await trial.platform(`POST /_control/numbers/${demoNumberId}`, { throughput: { level: 'STANDARD' } });
  const client = await trial.logIn();
  await client.synchronize();
  await trial.send(client, recipients);
  await trial.midway(recipients / 8);
  trial.isQuiet('platform-credential-refused');

  // Trouble: the owner of the token has lost the right to the account.
  await trial.platform('POST /_control/tokens/revoke', { token: oldToken });
  trial.tell('trouble', 'the platform has revoked the access token of both WABAs');

  // Told: the line and the metric name the WABA, and the alarm rings.
  await trial.logged('send.credential_refused', ({ wabaId }) => wabaId === demoWabaId);
  await trial.rings('platform-credential-refused');
  await trial.counted('PlatformCredentialRefused', { name: 'wabaIds', value: [demoWabaId] });

  // End: the command does not write a token that the platform refuses, and writes one that it takes.
  const command = bookCommand('One token', 'infra/ops credential');
  await trial.operate(command, { input: oldToken, status: 1 });
  await trial.platform('POST /_control/tokens', { token: newToken, app_id: '500000000000001', waba_ids: wabaIds });
  await trial.operate(command, { input: newToken });

  // Proof: what waited is sent without a command.
  await trial.proven();
  await trial.quietAgain('platform-credential-refused');
}

export const tokenRevoked = locally({
  name: 'token-revoked',
  incident: 'the platform revokes the access token in the middle of a campaign',
  play,
});
