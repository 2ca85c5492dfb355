import { promises as dns } from 'node:dns';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import * as v from 'valibot';

// Loaded before a function of the local stack (`--import`), and in no bundle: deliveries know no exception to the rule that
// addresses inside are refused (R40). Here the network itself is another one, in which one name leads to this machine.

const thisMachine = '127.0.0.1';

/** What the name is found under: a public address, which nothing ever connects to. */
const standIn = '8.8.8.8';

const ReceiverSchema = v.object({
  // A name: no address can be let through by this.
  host: v.pipe(v.string(), v.regex(/^[a-z0-9.-]+\.[a-z]+$/)),
  port: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535)),
  ca: v.string(),
});

/** A receiver on the developer's own machine, which the local stack lets events go to under a public name. */
export type TrustedReceiver = v.InferOutput<typeof ReceiverSchema>;

/** Reads the variable `WEBHOOK_TRUSTED_RECEIVER` (JSON). */
export function trustedReceiverOf(variable: string): TrustedReceiver {
  return v.parse(ReceiverSchema, JSON.parse(variable));
}

/**
 * Makes a connection for the receiver's name one to its port on this machine, trusting its own certificate; every other
 * name and address goes where it went before.
 */
export function leadToThisMachine({ host, port, ca }: TrustedReceiver): void {
  const { lookup } = dns;
  const { request } = https;
  dns.lookup = ((name: string, ...rest: [never]) =>
    name === host ? Promise.resolve([{ address: standIn, family: 4 }]) : lookup(name, ...rest)) as typeof lookup;
  https.request = ((options: https.RequestOptions, ...rest: [never]) => {
    if (options.host !== standIn || options.servername !== host) return request(options, ...rest);
    const outgoing = request({ ...options, host: thisMachine, port, ca }, ...rest);
    outgoing.on('socket', (socket: Socket) => Object.defineProperty(socket, 'remoteAddress', { value: standIn }));
    return outgoing;
  }) as typeof request;
  syncBuiltinESMExports();
}

const variable = process.env['WEBHOOK_TRUSTED_RECEIVER'];
if (variable !== undefined) leadToThisMachine(trustedReceiverOf(variable));
