import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { AwsV4Signer } from 'aws4fetch';
import { environmentVariable, optionalVariable } from './environment.ts';

const connectMs = 1_000;
const answerMs = 3_000;

export interface ServiceCall {
  /** The endpoint may have a path, which prefixes the request's. */
  readonly endpoint: string;
  readonly service: string;
  readonly target: string;
  readonly body: object;
}

export interface ServiceReply {
  readonly status: number;
  readonly text: string;
}

/**
 * Makes one signed call with the environment's credentials. Throws `TimeoutError` without a connection in 1 s or the
 * whole answer in 3 s. No connection is kept, because calls are minutes apart.
 */
export async function signedRequest({ endpoint, service, target, body }: ServiceCall): Promise<ServiceReply> {
  const payload = JSON.stringify(body);
  const sessionToken = optionalVariable('AWS_SESSION_TOKEN');
  const signer = new AwsV4Signer({
    // A request goes below the endpoint's path, as in the SDK.
    url: endpoint.endsWith('/') ? endpoint : `${endpoint}/`,
    service,
    region: environmentVariable('AWS_REGION'),
    accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken,
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target },
    body: payload,
  });
  const { url, headers } = await signer.sign();
  return await post(url, Object.fromEntries(headers), payload);
}

function post(url: URL, headers: Readonly<Record<string, string>>, payload: string): Promise<ServiceReply> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent: false, method: 'POST', headers }, (reply) => {
      textOf(reply).then((text) => resolve({ status: reply.statusCode ?? 0, text }), reject);
    });
    const cutAfter = (ms: number) => setTimeout(() => outgoing.destroy(timeOut(ms)), ms);
    const connecting = cutAfter(connectMs);
    const answering = cutAfter(answerMs);
    outgoing.once('socket', (socket) => socket.once('connect', () => clearTimeout(connecting)));
    outgoing.once('error', reject);
    outgoing.once('close', () => {
      clearTimeout(connecting);
      clearTimeout(answering);
    });
    outgoing.end(payload);
  });
}

async function textOf(reply: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of reply as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function timeOut(ms: number): Error {
  const error = new Error(`no answer within ${ms} ms`);
  error.name = 'TimeoutError';
  return error;
}
