import { STSClient } from '@aws-sdk/client-sts';
import { configuredEndpoint } from '../../../lib/aws/endpoint.ts';
import { requestSigner } from '../../../lib/aws/request-signer.ts';

/** The project has no SDK client for these services. */
export interface SignedRead {
  readonly service: 'lambda' | 'servicequotas';
  /** The variable names another endpoint: `AWS_ENDPOINT_URL_LAMBDA`. */
  readonly endpointVariable: string;
  readonly path: string;
  /** A call with `X-Amz-Target` has a body; without it the call is a GET. */
  readonly json?: { readonly target: string; readonly body: object };
}

/** The service refused; the name is its error (`AccessDeniedException`). */
export class ReadRefused extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** Returns the parsed JSON. Throws `ReadRefused` for a refusal. */
export type ReadSigned = (read: SignedRead) => Promise<unknown>;

const timeoutMs = 10_000;

/** Uses the region and credentials that the SDK's clients of this process find. */
export function signedReader(): ReadSigned {
  // A client that makes no call gives the SDK's chain of profiles, single sign-on and roles.
  const { config } = new STSClient({});
  return async ({ service, endpointVariable, path: asked, json }) => {
    const base = configuredEndpoint(endpointVariable) ?? regionalEndpoint(service, await config.region());
    const url = new URL(`${base.replace(/\/$/, '')}${asked}`);
    const method = json === undefined ? 'GET' : 'POST';
    const body = json && JSON.stringify(json.body);
    const ofJson = json && { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': json.target };
    const signer = requestSigner({ service, region: config.region, credentials: config.credentials });
    const path = `${url.pathname}${url.search}`;
    const signed = await signer.sign({ method, path, body, headers: { host: url.host, ...ofJson } });
    const { host: _own, ...headers } = signed.headers;
    const reply = await fetch(url, {
      ...{ method, headers, body: body ?? null },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return answerOf(reply, await reply.text());
  };
}

function regionalEndpoint(service: string, region: string): string {
  return `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

function answerOf(reply: Response, text: string): unknown {
  const body = parsed(text);
  if (reply.ok && body !== undefined) return body;
  const { __type, message, Message } = (body ?? {}) as Readonly<Record<string, string | undefined>>;
  // REST services name the error in a header, before a colon; the others in the body, after a namespace.
  const name = reply.headers.get('x-amzn-errortype')?.split(':')[0] ?? __type?.slice(__type.lastIndexOf('#') + 1);
  throw new ReadRefused(name ?? `HTTP ${reply.status}`, message ?? Message ?? `it answers ${reply.status}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
