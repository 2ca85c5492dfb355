import createClient from 'openapi-fetch';
import { baseUrl, credentials, message } from './message.ts';
import type { paths } from './out/index.ts';

const service = createClient<paths>({ baseUrl });
const login = await service.POST('/login', { body: credentials });
if (login.data === undefined) throw new Error(JSON.stringify(login.error));
const { data, error, response } = await service.POST('/v1/template/messages/{did}', {
  params: { path: { did: message.did }, header: { 'Idempotency-Key': `proof-${Date.now()}` } },
  headers: { authorization: `Bearer ${login.data.access_token}` },
  body: message,
});
if (data === undefined) throw new Error(`${error.message} ${'code' in error ? error.code : ''}`);
console.log(response.headers.get('dispatch-id'));
