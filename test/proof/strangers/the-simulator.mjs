import { createServer } from 'node:http';

export const url = process.env.SIMULATOR;
export const token = 'demo-platform-token';
export const [app, secret] = ['500000000000001', 'demo-app-secret'];
export const waba = '200000000000001';
export const number = '300000000000001';
export const person = '5491150000001';

let calls = 0;
const faults = [];

export async function control(method, path, body) {
  const reply = await fetch(`${url}/_control/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: method === 'GET' ? undefined : JSON.stringify(body ?? {}),
  });
  if (!reply.ok) throw new Error(`${method} ${path}: ${await reply.text()}`);
  return await reply.json();
}

/** Runs one call of the library; it fails when it throws, or when what came back is not as expected. */
export async function call(what, run, holds = () => true) {
  calls += 1;
  try {
    const answer = await run();
    if (!holds(answer)) faults.push(`${what}: answered ${JSON.stringify(answer)}`);
    return answer;
  } catch (error) {
    faults.push(`${what}: ${error.stack} ${JSON.stringify(error)}`);
    return undefined;
  }
}

/** Returns what a call says that is not simulated. */
export async function refused(run) {
  try {
    return JSON.stringify(await run());
  } catch (error) {
    const response = await error.response?.text?.().catch(() => '');
    return `${error.message} ${JSON.stringify(error)} ${response ?? ''}`;
  }
}

export const saysWhatItTakes = (text) => text.includes('takes templates and text');

export async function until(holds) {
  for (let left = 200; left > 0 && !holds(); left -= 1) await new Promise((resolve) => setTimeout(resolve, 100));
  return holds();
}

/** Listens for webhooks; `take` is given the headers and the body of each POST, `verify` the query of a GET. */
export async function listen(take, verify) {
  const server = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url, 'http://127.0.0.1');
    if (request.method === 'GET') {
      response.end(String(await verify?.(Object.fromEntries(searchParams))));
      return;
    }
    const parts = await Array.fromAsync(request);
    await take(request.headers, Buffer.concat(parts).toString());
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${server.address().port}/`;
}

/** Subscribes an address by the platform's own interface, which asks the address first. */
export async function subscribe(callbackUrl) {
  const query = new URLSearchParams({ client_id: app, client_secret: secret, grant_type: 'client_credentials' });
  const { access_token } = await (await fetch(`${url}/v26.0/oauth/access_token?${query}`)).json();
  const reply = await fetch(`${url}/v26.0/${app}/subscriptions`, {
    method: 'POST',
    body: new URLSearchParams({
      access_token,
      object: 'whatsapp_business_account',
      callback_url: callbackUrl,
      verify_token: 'verify-me',
    }),
  });
  return await reply.json();
}

export function end() {
  for (const fault of faults) console.log(fault);
  console.log(`${calls} calls, ${faults.length} failed`);
  process.exit(faults.length === 0 ? 0 : 1);
}
