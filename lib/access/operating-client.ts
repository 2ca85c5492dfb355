import * as v from 'valibot';
import { documentedAs } from '../http/documented.ts';
import { type Fault, Refusal } from '../http/refusal.ts';
import type { Caller } from './caller.ts';
import type { Directory } from './directory.ts';

const plainDecimal = /^[1-9]\d{0,15}$/;

const clientId = () => v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** `requestedClientId` checks a query's `client_id`, because the contract quotes its refusal. */
export const ClientIdText = v.optional(v.pipe(v.string(), documentedAs(clientId)));

export const ClientIdJson = v.optional(v.pipe(v.unknown(), documentedAs(clientId)));

/**
 * Returns the `client_id` of query or body (D4), or undefined. Refuses with 400 `invalid client_id: <value>` all but a
 * positive safe integer in plain decimal (repeated parameters arrive joined by commas), and two different values.
 */
export function requestedClientId(asked: {
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

/** Returns the faults for which `requestedClientId` would refuse, for an answer that lists all faults. */
export function clientIdFaults(asked: Parameters<typeof requestedClientId>[0]): readonly Fault[] {
  try {
    requestedClientId(asked);
    return [];
  } catch (error) {
    if (error instanceof Refusal) return error.details.errors ?? [];
    throw error;
  }
}

export type Clients = Pick<Directory, 'hasClient'>;

/**
 * Returns the client that a request works for (D4). Refuses with 403 a foreign id without `BSP_CN`, and with 400
 * `invalid client_id: <value>` an unknown one. Makes one read, and none for the caller's own id.
 */
export async function operatingClient(clients: Clients, caller: Caller, askedId: number | undefined): Promise<number> {
  if (askedId === undefined || askedId === caller.clientId) return caller.clientId;
  if (!caller.crossClient) {
    throw new Refusal('cross_client_forbidden', 'BSP_CN permission required for cross-client access');
  }
  if (!(await clients.hasClient(askedId))) throw invalidClientId(String(askedId));
  return askedId;
}

/**
 * Advises a caller with `BSP_CN` who named no client (D4), else is empty. It does not reveal whether the DID or
 * template exists.
 */
export function clientIdAdvice(caller: Caller, askedId: number | undefined): string {
  return caller.crossClient && askedId === undefined ? '; pass client_id to work for another client than your own' : '';
}

function clientIdFromText(text: string): number {
  const value = Number(text);
  if (!plainDecimal.test(text) || !Number.isSafeInteger(value)) throw invalidClientId(text);
  return value;
}

function clientIdFromJson(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    if (typeof value !== 'string') throw invalidClientId(JSON.stringify(value));
    throw invalidClientId(value, plainDecimal.test(value) ? ' (expected a number, received a text)' : '');
  }
  return value;
}

/** `how` explains what is wrong with a value that looks right. */
function invalidClientId(value: string, how = ''): Refusal {
  const shown = value.length <= 100 ? value : `${value.slice(0, 97)}...`;
  const message = `invalid client_id: ${shown}`;
  return new Refusal('invalid_client_id', message, { errors: [{ path: 'client_id', message: `${message}${how}` }] });
}
