import * as v from 'valibot';
import { faultOf } from '../http/parse.ts';
import { Refusal } from '../http/refusal.ts';
import { log } from '../observe/log.ts';
import { type Rates, RatesSchema, replacementFault } from './rates.ts';
import { ratesOfDay, utcDay } from './rates-of-day.ts';
import type { RatesStore } from './rates-store.ts';

export interface RefreshPorts {
  /** Fetches the source's rate file; refuses as `fetchPublic`. */
  readonly fetchFile: () => Promise<Buffer>;
  readonly store: RatesStore;
  readonly shipped: Rates;
  readonly nowMs: () => number;
}

/** The rates in force stay. */
export class RatesNotTaken extends Error {
  readonly code: 'not_fetched' | 'malformed' | 'implausible';

  constructor(code: RatesNotTaken['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RatesNotTaken';
    this.code = code;
  }
}

/**
 * Stores the source's rates if they are well-formed, complete, plausible and not older than those in force (D32).
 * Otherwise it logs `pricing.refresh_failed` and throws, for the alarm.
 */
export async function refreshRates(ports: RefreshPorts): Promise<'replaced' | 'not_yet_in_force'> {
  try {
    const next = readRates(await fetched(ports));
    const today = utcDay(ports.nowMs());
    const inForce = ratesOfDay(today, [ports.shipped, ...(await ports.store.find())]);
    const fault = replacementFault(inForce, next);
    if (fault !== undefined) throw new RatesNotTaken('implausible', `the rates ${fault}`);
    await ports.store.keepOfDate(next);
    if (next.effective > today) {
      log('pricing.rates_not_yet_in_force');
      return 'not_yet_in_force';
    }
    log('pricing.refreshed', { outcome: 'replaced' });
    return 'replaced';
  } catch (error) {
    const reason = error instanceof RatesNotTaken ? { code: error.code, error: error.message } : { code: 'internal' };
    log('pricing.refresh_failed', reason);
    throw error;
  }
}

async function fetched({ fetchFile }: RefreshPorts): Promise<Buffer> {
  try {
    return await fetchFile();
  } catch (error) {
    throw error instanceof Refusal ? new RatesNotTaken('not_fetched', error.message, error) : error;
  }
}

function readRates(file: Buffer): Rates {
  const read = v.safeParse(RatesSchema, parsedJson(file));
  if (read.success) return read.output;
  const { path, message } = faultOf(read.issues[0]);
  throw new RatesNotTaken('malformed', `the rate file is malformed: ${path === '' ? '' : `${path}: `}${message}`);
}

function parsedJson(file: Buffer): unknown {
  try {
    return JSON.parse(file.toString('utf8'));
  } catch (error) {
    throw new RatesNotTaken('malformed', 'the rate file is not JSON', error);
  }
}
