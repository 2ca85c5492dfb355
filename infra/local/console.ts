import type { LocalStack } from '../operate/local-stacks.ts';
import { closestRoute } from './closest-route.ts';
import type { Answered } from './gateway.ts';

/** Returns a shell line that leads the README's and the project's commands to this stack. */
export function addressLine({ apiUrl, platformUrl }: Pick<LocalStack, 'apiUrl' | 'platformUrl'>): string {
  return `export PORT=${new URL(apiUrl).port} API=${apiUrl} PLATFORM=${platformUrl}`;
}

/**
 * Returns a shell line that signs a demo user in and sends one message; the service asks the platform for the template.
 */
export function messageLine({ apiUrl }: Pick<LocalStack, 'apiUrl'>): string {
  const login = `curl -s ${apiUrl}/login -d '{"username":"supervisor1001","password":"demo-supervisor1001"}'`;
  const token = `$(${login} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
  const did = '5491100000001';
  const template = { name: 'order_update', language: 'en_US' };
  const recipients = [{ to: '5491155550001', params: { body: ['Ana', 'A-1001'], buttons: ['A-1001'] } }];
  const body = JSON.stringify({ did, type: 'template', channel: 'MESSAGING', template, recipients });
  return `curl -s ${apiUrl}/v1/template/messages/${did} -H "authorization: Bearer ${token}" -d '${body}'; echo`;
}

/**
 * Tells a request in one line: `GET /v1/templates 400 invalid_request 12 ms`, without the query, which may contain a
 * phone number. An unknown route gets a suggestion; after a gateway timeout the function continues.
 */
export function requestLine({ method, path, status, body, durationMs }: Answered): string {
  const code = codeOf(status, body);
  const meant = status === 404 && code.length === 0 ? closestRoute(method, path) : undefined;
  const hint = meant === undefined ? [] : [`(no such route; did you mean ${meant}?)`];
  const late = status === 503 && code.length === 0 ? ['(too slow for the gateway; the function goes on)'] : [];
  return [method, path, status, ...code, `${Math.round(durationMs)} ms`, ...hint, ...late].join(' ');
}

/** Returns the code of a refusal (D1); empty for every other answer, also the gateway's own. */
function codeOf(status: number, body: Buffer): string[] {
  if (status < 400) return [];
  try {
    const { code } = JSON.parse(body.toString('utf8'));
    return typeof code === 'string' ? [code] : [];
  } catch {
    return [];
  }
}

/** Embedded metric format is for CloudWatch, not for a person. */
export function isMetricsLine(text: string): boolean {
  return text.startsWith('{"_aws":');
}
