import { baseUrl, credentials, message } from './message.ts';
import { client } from './out/client.gen';
import { login, messagesSend } from './out/index';

client.setConfig({ baseUrl });
const { data: token, error: refused } = await login({ body: credentials });
if (token === undefined) throw new Error(JSON.stringify(refused));
client.setConfig({ auth: () => token.access_token });
const { data, error, response } = await messagesSend({ path: { did: message.did }, body: message });
if (data === undefined) throw new Error(JSON.stringify(error));
console.log(response?.headers.get('dispatch-id'));
