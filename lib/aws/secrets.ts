import * as v from 'valibot';
import { configuredEndpoint } from './endpoint.ts';
import { environmentVariable, optionalVariable } from './environment.ts';
import { backoff, type Pause } from './pause.ts';
import { requestHandler } from './request-handler.ts';
import { requestSigner } from './request-signer.ts';

export type ReadSecret = (secretId: string) => Promise<string>;

/** A read failed; the name is the service's own (`ResourceNotFoundException`). */
export class SecretFault extends Error {
  constructor(name: string, secretId: string) {
    super(`the secret ${secretId} could not be read: ${name}`);
    this.name = name;
  }
}

const attempts = 3;

/**
 * Reads secrets without the SDK, which loads longer than all else in the authorizer. Makes three attempts of 3 s for no
 * answer, server faults and throttles. Throws `SecretFault`, or the last error.
 */
export function secretReader(pause: Pause = backoff(100, 1_000)): ReadSecret {
  return async (secretId) => {
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt === attempts;
      try {
        const reply = await asked(secretId);
        if (last || !isPassing(reply)) return textOf(reply, secretId);
      } catch (error) {
        if (last || error instanceof SecretFault) throw error;
      }
      await pause(attempt);
    }
  };
}

interface ServiceReply {
  readonly status: number;
  readonly text: string;
}

/** No connection is kept, because calls are minutes apart. */
const handler = /* @__PURE__ */ requestHandler({ connectMs: 1_000, replyMs: 3_000 }, { keepAlive: false });

/** Signs with the environment's region and credentials. */
const signer = /* @__PURE__ */ requestSigner({
  service: 'secretsmanager',
  region: async () => environmentVariable('AWS_REGION'),
  credentials: async () => ({
    accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: optionalVariable('AWS_SESSION_TOKEN'),
  }),
});

/** Asks once. The endpoint may have a path, which prefixes the request's, as in the SDK. */
async function asked(secretId: string): Promise<ServiceReply> {
  const endpoint =
    configuredEndpoint('AWS_ENDPOINT_URL_SECRETS_MANAGER') ?? regionalEndpoint(environmentVariable('AWS_REGION'));
  const { protocol, hostname, port, host, pathname } = new URL(endpoint.endsWith('/') ? endpoint : `${endpoint}/`);
  const request = {
    ...{ protocol, hostname, port, path: pathname, method: 'POST', body: JSON.stringify({ SecretId: secretId }) },
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue', host },
  };
  const { response } = await handler.handle(await signer.sign(request));
  return { status: response.statusCode, text: Buffer.from(response.body).toString('utf8') };
}

function regionalEndpoint(region: string): string {
  return `https://secretsmanager.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

const throttles = new Set(['ThrottlingException', 'Throttling', 'TooManyRequestsException', 'RequestLimitExceeded']);

function isPassing(reply: ServiceReply): boolean {
  return reply.status >= 500 || reply.status === 429 || (reply.status !== 200 && throttles.has(faultOf(reply)));
}

const SecretSchema = v.pipe(v.string(), v.parseJson(), v.object({ SecretString: v.string() }));

/** The parser's message is dropped, because it quotes the secret. */
function textOf(reply: ServiceReply, secretId: string): string {
  if (reply.status !== 200) throw new SecretFault(faultOf(reply), secretId);
  const secret = v.safeParse(SecretSchema, reply.text);
  if (!secret.success) throw new SecretFault('SecretHasNoText', secretId);
  return secret.output.SecretString;
}

const FaultSchema = v.pipe(v.string(), v.parseJson(), v.object({ __type: v.string() }));

/** Returns the service's error name, perhaps behind a name space: `com.amazonaws...#ThrottlingException`. */
function faultOf({ status, text }: ServiceReply): string {
  const fault = v.safeParse(FaultSchema, text);
  return fault.success ? fault.output.__type.slice(fault.output.__type.lastIndexOf('#') + 1) : `HTTP ${status}`;
}

/** Caches a value for `maxAgeMs`. A failed read is not cached, so the next call retries. */
export function cachedFor<T>(maxAgeMs: number, nowMs: () => number, read: () => Promise<T>): () => Promise<T> {
  let kept: { readonly readAtMs: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (kept !== undefined && nowMs() - kept.readAtMs < maxAgeMs) return kept.value;
    const reading = { readAtMs: nowMs(), value: read() };
    kept = reading;
    reading.value.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return reading.value;
  };
}
