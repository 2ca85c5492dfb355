import { setTimeout as pause } from 'node:timers/promises';
import { clientNames, missingFor, sentByClient } from '../support/generated-clients.ts';
import { onOwnStack } from './own-stack.ts';

// `npm run proof -- generators`: foreign generators read functions/openapi.json, and their clients compile and send one
// message. Those of npm are installed into a folder that is removed; those for Python and Go must be on the PATH.

const did = '5491100000001';

await onOwnStack({ name: 'generators', signal: new AbortController().signal }, async ({ addresses: { apiUrl } }) => {
  const ask = await signedIn(apiUrl);
  await ask('POST', '/v1/templates/sync-from-platform', {});
  const unassigned = '/v1/templates?campaign_name=Unassigned&name=order_update';
  await until('the templates are there', async () => (await ask('GET', unassigned)).includes('"id"'));
  for (const name of clientNames) {
    const missing = missingFor(name);
    if (missing.length > 0) {
      console.log(`${name}: left out, not on the PATH: ${missing.join(', ')}`);
      continue;
    }
    try {
      const dispatchId = await sentByClient(name, apiUrl);
      const report = `/v1/template/messages/${did}/${dispatchId}`;
      await until(`the message of ${name} has left`, async () =>
        /"state":"(?:sent|delivered|read)"/.test(await ask('GET', report)),
      );
      console.log(`${name}: its client compiles, and has sent ${dispatchId}`);
    } catch (error) {
      console.log(`${name}: ${error instanceof Error ? error.message : error}`);
      process.exitCode = 1;
    }
  }
});

/** Asks the API as a user of the demo client, and returns the text of the answer. */
async function signedIn(apiUrl: string) {
  let authorization = '';
  const ask = async (method: string, path: string, body?: object): Promise<string> => {
    const headers = { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) };
    const asked = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return (await fetch(apiUrl + path, asked)).text();
  };
  const login = await ask('POST', '/login', { username: 'supervisor1001', password: 'demo-supervisor1001' });
  authorization = `Bearer ${JSON.parse(login).access_token}`;
  return ask;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let asked = 0; asked < 120; asked += 1) {
    if (await holds()) return;
    await pause(1_000);
  }
  throw new Error(`waited two minutes in vain until ${what}`);
}
