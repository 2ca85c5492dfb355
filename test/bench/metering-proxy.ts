import { createServer } from 'node:http';
import * as v from 'valibot';

/** DynamoDB counts these units; they are those since the last call of `taken`. */
export interface Units {
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly requests: number;
}

export interface MeteringProxy {
  readonly endpoint: string;
  taken(): Units;
  stop(): void;
}

const CapacitySchema = v.object({ CapacityUnits: v.number() });
const ReplySchema = v.object({
  ConsumedCapacity: v.optional(v.union([CapacitySchema, v.array(CapacitySchema)]), []),
});
const RequestSchema = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()));
const json = { 'content-type': 'application/x-amz-json-1.0' };
const writing = /\.(Put|Update|Delete|BatchWrite|TransactWrite)/;

/** Starts a proxy before a DynamoDB emulator, and asks the emulator for the units of each request. */
export async function startMeteringProxy(target: string): Promise<MeteringProxy> {
  let taken: Units = { readUnits: 0, writeUnits: 0, requests: 0 };
  const server = createServer(async (incoming, outgoing) => {
    try {
      const body = v.parse(RequestSchema, await textOf(incoming));
      const action = String(incoming.headers['x-amz-target']);
      // The emulators want a signature, but do not verify it.
      const signing = Object.entries(incoming.headers).filter(([name]) => /^(authorization|x-amz-.*)$/.test(name));
      const headers = { ...Object.fromEntries(signing.map(([name, value]) => [name, String(value)])), ...json };
      const asked = JSON.stringify({ ...body, ReturnConsumedCapacity: 'TOTAL' });
      const reply = await fetch(new URL(incoming.url ?? '/', target), { method: 'POST', headers, body: asked });
      const text = await reply.text();
      const units = reply.ok ? unitsIn(text) : 0;
      const writes = writing.test(action);
      taken = {
        readUnits: taken.readUnits + (writes ? 0 : units),
        writeUnits: taken.writeUnits + (writes ? units : 0),
        requests: taken.requests + 1,
      };
      outgoing.writeHead(reply.status, json).end(text);
    } catch {
      outgoing.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the metering proxy has no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    taken: () => {
      const units = taken;
      taken = { readUnits: 0, writeUnits: 0, requests: 0 };
      return units;
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function unitsIn(text: string): number {
  const { ConsumedCapacity } = v.parse(ReplySchema, JSON.parse(text));
  return [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
}
