import * as v from 'valibot';
import { configuredEndpoint } from './endpoint.ts';
import { environmentVariable } from './environment.ts';
import { backoff, type Pause } from './pause.ts';
import { type ServiceReply, signedRequest } from './signed-request.ts';

/** Reads a secret's current text. */
export type ReadSecret = (secretId: string) => Promise<string>;

/** Why Secrets Manager gave no text; its name is the service's own for the fault (`ResourceNotFoundException`). */
export class SecretFault extends Error {
  constructor(name: string, secretId: string) {
    super(`the secret ${secretId} could not be read: ${name}`);
    this.name = name;
  }
}

const attempts = 3;

/**
 * Reads secrets from Secrets Manager without the SDK, which takes longer to load than everything else of the authorizer. An
 * attempt is cut after 3 s; after no answer, a server's fault or a throttle there are two more. Throws `SecretFault`, or
 * what the last attempt has thrown.
 */
export function secretReader(pause: Pause = backoff(100, 1_000)): ReadSecret {
  return async (secretId) => {
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt === attempts;
      try {
        const reply = await signedRequest(callFor(secretId));
        if (last || !isPassing(reply)) return textOf(reply, secretId);
      } catch (error) {
        if (last || error instanceof SecretFault) throw error;
      }
      await pause(attempt);
    }
  };
}

function callFor(secretId: string) {
  return {
    endpoint:
      configuredEndpoint('AWS_ENDPOINT_URL_SECRETS_MANAGER') ?? regionalEndpoint(environmentVariable('AWS_REGION')),
    service: 'secretsmanager',
    target: 'secretsmanager.GetSecretValue',
    body: { SecretId: secretId },
  };
}

function regionalEndpoint(region: string): string {
  return `https://secretsmanager.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

const throttles = new Set(['ThrottlingException', 'Throttling', 'TooManyRequestsException', 'RequestLimitExceeded']);

/** Whether another attempt may be answered otherwise. */
function isPassing(reply: ServiceReply): boolean {
  return reply.status >= 500 || reply.status === 429 || (reply.status !== 200 && throttles.has(faultOf(reply)));
}

const SecretSchema = v.pipe(v.string(), v.parseJson(), v.object({ SecretString: v.string() }));

/** The parser's own words are not passed on: they quote what they read. */
function textOf(reply: ServiceReply, secretId: string): string {
  if (reply.status !== 200) throw new SecretFault(faultOf(reply), secretId);
  const secret = v.safeParse(SecretSchema, reply.text);
  if (!secret.success) throw new SecretFault('SecretHasNoText', secretId);
  return secret.output.SecretString;
}

const FaultSchema = v.pipe(v.string(), v.parseJson(), v.object({ __type: v.string() }));

/** The service's name for a fault, which may stand behind the name space: `com.amazonaws...#ThrottlingException`. */
function faultOf({ status, text }: ServiceReply): string {
  const fault = v.safeParse(FaultSchema, text);
  return fault.success ? fault.output.__type.slice(fault.output.__type.lastIndexOf('#') + 1) : `HTTP ${status}`;
}

/** Keeps a value read from a secret for `maxAgeMs`; a failed reading is not kept, so the next call tries again. */
export function keptFor<T>(maxAgeMs: number, nowMs: () => number, read: () => Promise<T>): () => Promise<T> {
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
