import { promises as dns } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import * as v from 'valibot';

// This module is loaded before a local function (`--import`), never bundled. Deliveries and downloads always refuse
// internal addresses (R40), so it changes the network: some names lead to this machine.

const thisMachine = '127.0.0.1';

/** DNS answers the name with this public address, to which no connection is made. */
const standIn = '8.8.8.8';

const ReceiverSchema = v.object({
  // The host must be a name, so no address can be allowed by this.
  host: v.pipe(v.string(), v.regex(/^[a-z0-9.-]+\.[a-z]+$/)),
  port: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535)),
  /** The receiver's certificate; null for a program that speaks plain HTTP. */
  ca: v.nullable(v.string()),
});

export type TrustedReceiver = v.InferOutput<typeof ReceiverSchema>;

export function trustedReceiversOf(variable: string): TrustedReceiver[] {
  return v.parse(v.array(ReceiverSchema), JSON.parse(variable));
}

/**
 * Connects the receiver's name to its port on this machine and trusts its certificate; other names and addresses are
 * unchanged.
 */
export function leadToThisMachine({ host, port, ca }: TrustedReceiver): void {
  const { lookup } = dns;
  const { request } = https;
  dns.lookup = ((name: string, ...rest: [never]) =>
    name === host ? Promise.resolve([{ address: standIn, family: 4 }]) : lookup(name, ...rest)) as typeof lookup;
  https.request = ((options: https.RequestOptions, ...rest: [never]) => {
    if (options.host !== standIn || options.servername !== host) return request(options, ...rest);
    const local = { ...options, host: thisMachine, port };
    const headers = { ...(options.headers as http.OutgoingHttpHeaders), host: `${thisMachine}:${port}` };
    const outgoing = ca === null ? http.request({ ...local, headers }, ...rest) : request({ ...local, ca }, ...rest);
    outgoing.on('socket', (socket: Socket) => {
      Object.defineProperty(socket, 'remoteAddress', { value: standIn });
      if (ca === null) socket.once('connect', () => socket.emit('secureConnect'));
    });
    return outgoing;
  }) as typeof request;
  syncBuiltinESMExports();
}

const variable = process.env['TRUSTED_RECEIVERS'];
if (variable !== undefined) trustedReceiversOf(variable).forEach(leadToThisMachine);
