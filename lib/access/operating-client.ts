import { Refusal } from '../http/refusal.ts';
import type { Caller } from './caller.ts';

const plainDecimal = /^[1-9]\d{0,15}$/;

/**
 * The `client_id` a request asks for, from query and body (D4); undefined when it names none. Refuses with 400
 * `invalid client_id: <value>` what is not a positive safe integer in plain decimal (a repeated query parameter arrives
 * joined by commas and is refused for that), and two different values.
 */
export function askedClientId(asked: {
  readonly query?: string | undefined;
  readonly body?: unknown;
}): number | undefined {
  const fromQuery = asked.query === undefined ? undefined : clientIdFromText(asked.query);
  const fromBody = asked.body === undefined ? undefined : clientIdFromJson(asked.body);
  if (fromQuery !== undefined && fromBody !== undefined && fromQuery !== fromBody) {
    throw invalidClientId(`${fromQuery} in the query, ${fromBody} in the body`);
  }
  return fromQuery ?? fromBody;
}

/** The client a request works for (D4). Refuses with 403 another client's id without `BSP_CN`. */
export function operatingClient(caller: Caller, askedId: number | undefined): number {
  if (askedId === undefined || askedId === caller.clientId || caller.crossClient) return askedId ?? caller.clientId;
  throw new Refusal('cross_client_forbidden', 'BSP_CN permission required for cross-client access');
}

function clientIdFromText(text: string): number {
  const value = Number(text);
  if (!plainDecimal.test(text) || !Number.isSafeInteger(value)) throw invalidClientId(text);
  return value;
}

function clientIdFromJson(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw invalidClientId(typeof value === 'string' ? value : JSON.stringify(value));
  }
  return value;
}

function invalidClientId(value: string): Refusal {
  const shown = value.length <= 100 ? value : `${value.slice(0, 97)}...`;
  const message = `invalid client_id: ${shown}`;
  return new Refusal('invalid_client_id', message, { errors: [{ path: 'client_id', message }] });
}
