import type { Forwarded } from './webhook-forward.ts';
import type { Delivery } from './webhook-receiver.ts';

export function printedDelivery({ webhookId, verified, body }: Delivery, nowMs: number): string {
  return `\n${clock(nowMs)} ${webhookId} ${verified ? 'verified' : 'NOT VERIFIED: answered 400'}\n${indented(body)}`;
}

export function printedAttempt(
  { webhookId, body }: Delivery,
  { attempt, answer, tookMs }: { readonly attempt: number; readonly answer: Forwarded; readonly tookMs: number },
  nowMs: number,
): string {
  const head = `${clock(nowMs)} ${kindOf(body)} ${webhookId} attempt ${attempt}: `;
  if (answer.fault !== undefined) return `${head}no answer (${answer.fault}), told the service ${answer.status}`;
  return `${head}${answer.status} in ${Math.round(tookMs)} ms${consequenceOf(answer)}`;
}

/** Tells the service's reaction (D34). */
function consequenceOf({ status, retryAfter }: Forwarded): string {
  if (status >= 200 && status < 300) return '';
  if (status === 410) return ': the webhook is switched off now';
  return retryAfter === undefined ? ', to be tried again' : `, to be tried again after ${retryAfter}`;
}

function clock(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(11, 19);
}

function kindOf(body: string): string {
  const { type } = JSON.parse(body) as { readonly type?: unknown };
  return String(type);
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
