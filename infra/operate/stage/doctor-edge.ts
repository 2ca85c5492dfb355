import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { resourceName } from '../../names.ts';
import type { Finding } from './findings.ts';

export interface DistributionState {
  readonly id: string;
  readonly enabled: boolean;
  /** `Deployed` means that all locations have this configuration. */
  readonly status: string;
  readonly webAcl: boolean;
  readonly publicName: string;
  readonly origin: { readonly scheme: 'http' | 'https'; readonly host: string; readonly port: number };
}

export type OriginAnswer =
  | { readonly status: number; readonly code: string | undefined }
  | { readonly failure: string };

/** The function is pure: each finding says what to do. */
export function edgeFindings(
  stage: string,
  distribution: DistributionState | undefined,
  past: OriginAnswer | undefined,
): Finding[] {
  if (distribution === undefined || past === undefined) {
    return [{ state: 'bad', text: `edge: its stack has no distribution; npm run deploy -- -c stage=${stage}` }];
  }
  return [distributionFinding(stage, distribution), pastFinding(stage, distribution, past)];
}

function distributionFinding(stage: string, { id, enabled, status, webAcl }: DistributionState): Finding {
  const what = `edge: distribution ${id}`;
  if (!enabled) {
    const remedy = `switch it on (aws cloudfront update-distribution --id ${id}, or the console)`;
    return { state: 'bad', text: `${what} is switched off, no client is answered; ${remedy}` };
  }
  if (!webAcl) {
    const remedy = `associate ${resourceName(stage, 'edge')} with it again`;
    return { state: 'bad', text: `${what} has no web ACL, no address is slowed down; ${remedy}` };
  }
  if (status !== 'Deployed') {
    return { state: 'bad', text: `${what} is on its way to all places (${status}); look again in some minutes` };
  }
  return { state: 'good', text: `${what} is enabled and deployed, with its web ACL` };
}

function pastFinding(stage: string, { origin }: DistributionState, past: OriginAnswer): Finding {
  if ('failure' in past) {
    const remedy = 'look at its record and certificate (infra/README.md, An edge)';
    return { state: 'bad', text: `edge: the API cannot be asked at ${origin.host} (${past.failure}); ${remedy}` };
  }
  if (past.status === 403 && past.code === 'edge_required') {
    return { state: 'good', text: 'edge: the API refuses what did not come through it' };
  }
  const answered = `the API answers ${past.status} at ${origin.host} to what did not come through the edge`;
  return { state: 'bad', text: `edge: ${answered}; npm run deploy -- -c stage=${stage} -c edge=true` };
}

const timeoutMs = 10_000;

/** Requests the API's health at the origin, as the distribution does, but without the key. */
export async function requestOrigin({ origin, publicName }: DistributionState): Promise<OriginAnswer> {
  const { scheme, host, port } = origin;
  const request = scheme === 'https' ? httpsRequest : httpRequest;
  return await new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => resolve({ failure: error.code ?? error.name });
    const asked = request(
      { host, port, path: '/health', headers: { host: publicName }, servername: publicName, timeout: timeoutMs },
      (reply) => {
        text(reply).then((body) => resolve({ status: reply.statusCode ?? 0, code: codeIn(body) }), failed);
      },
    );
    asked.on('timeout', () => asked.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })));
    asked.on('error', failed);
    asked.end();
  });
}

function codeIn(body: string): string | undefined {
  try {
    const { code } = JSON.parse(body);
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
