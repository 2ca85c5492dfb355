import { demoNumberId, demoWabaId, type Game, type GameDay } from './game.ts';
import { bookCommand } from './run-book.ts';

const recipients = 400;
const oldToken = 'demo-platform-token';
/** What the operator makes at the platform. */
const newToken = 'game-day-platform-token';
const wabaIds = ['200000000000001', '200000000000002'];

async function play(game: Game): Promise<void> {
  // Calm: a number that sends 80 a second, so that there is a middle.
  await game.platform(`POST /_control/numbers/${demoNumberId}`, { throughput: { level: 'STANDARD' } });
  const client = await game.logIn();
  await client.synchronize();
  await game.send(client, recipients);
  await game.midway(recipients / 8);
  game.isQuiet('platform-credential-refused');

  // Trouble: the owner of the token has lost the right to the account.
  await game.platform('POST /_control/tokens/revoke', { token: oldToken });
  game.tell('trouble', 'the platform has revoked the access token of both WABAs');

  // What tells it, and for which WABA.
  await game.logged('dispatch.credential_refused', ({ wabaId }) => wabaId === demoWabaId);
  await game.rings('platform-credential-refused');
  await game.counted('PlatformCredentialRefused', { name: 'wabaIds', value: [demoWabaId] });

  // The end: a token that the platform refuses is not written, one that it takes is.
  const command = bookCommand('One token', 'npm run credential --');
  await game.refused(command, oldToken);
  await game.platform('POST /_control/tokens', { token: newToken, app_id: '500000000000001', waba_ids: wabaIds });
  await game.operate(command, newToken);

  // Proof: what waited is sent by itself.
  await game.proven();
  await game.quietAgain('platform-credential-refused');
}

export const tokenRevoked: GameDay = {
  name: 'token-revoked',
  incident: 'the platform revokes the access token in the middle of a campaign',
  play,
};
