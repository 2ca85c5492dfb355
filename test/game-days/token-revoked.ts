import { demoNumberId, demoWabaId, type Game, type GameDay } from './game.ts';
import { bookCommand } from './run-book.ts';

const recipients = 400;
const oldToken = 'demo-platform-token';
/** The operator makes this token at the platform. */
const newToken = 'game-day-platform-token';
const wabaIds = ['200000000000001', '200000000000002'];

async function play(game: Game): Promise<void> {
  // Calm: the number sends 80 a second, so that the campaign has a middle.
  await game.platform(`POST /_control/numbers/${demoNumberId}`, { throughput: { level: 'STANDARD' } });
  const client = await game.logIn();
  await client.synchronize();
  await game.send(client, recipients);
  await game.midway(recipients / 8);
  game.isQuiet('platform-credential-refused');

  // Trouble: the owner of the token has lost the right to the account.
  await game.platform('POST /_control/tokens/revoke', { token: oldToken });
  game.tell('trouble', 'the platform has revoked the access token of both WABAs');

  // Told: the line and the metric name the WABA, and the alarm rings.
  await game.logged('send.credential_refused', ({ wabaId }) => wabaId === demoWabaId);
  await game.rings('platform-credential-refused');
  await game.counted('PlatformCredentialRefused', { name: 'wabaIds', value: [demoWabaId] });

  // End: the command does not write a token that the platform refuses, and writes one that it takes.
  const command = bookCommand('One token', 'infra/ops credential');
  await game.refused(command, oldToken);
  await game.platform('POST /_control/tokens', { token: newToken, app_id: '500000000000001', waba_ids: wabaIds });
  await game.operate(command, newToken);

  // Proof: what waited is sent without a command.
  await game.proven();
  await game.quietAgain('platform-credential-refused');
}

export const tokenRevoked: GameDay = {
  name: 'token-revoked',
  incident: 'the platform revokes the access token in the middle of a campaign',
  play,
};
