import { baseUrl, credentials, message } from './message.ts';
import { login, messagesSend } from './out/index';

// Its paths are relative, as a page of the same origin would ask.
const { fetch } = globalThis;
globalThis.fetch = (path, options) => fetch(new URL(String(path), baseUrl), options);

const token = await login(credentials);
if (token.status !== 200) throw new Error(String(token.status));
const headers = { authorization: `Bearer ${token.data.access_token}` };
const answer = await messagesSend(message.did, message, {}, { headers });
if (answer.status !== 200) throw new Error(JSON.stringify(answer.data));
console.log(answer.headers.get('dispatch-id'));
