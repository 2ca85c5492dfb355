import { baseUrl, credentials, message } from './message.ts';
import { Api } from './out/index';

const service = new Api<string>({
  baseUrl,
  securityWorker: (token) => (token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
});
const { data } = await service.login.login(credentials);
service.setSecurityData(data.access_token);
const answer = await service.v1.messagesSend(message.did, message);
console.log(answer.headers.get('dispatch-id'));
