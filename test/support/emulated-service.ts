import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { call, type DemoClient, logIn } from '../../infra/local/demo/client.ts';
import { watched } from '../../infra/local/demo/watching.ts';
import { startSimulatorProcess } from '../../infra/local/processes.ts';
import { closeAtOnce, openOnLoopback } from '../../infra/loopback.ts';
import { CommandError } from '../../infra/operate/command.ts';
import {
  emulatedAws,
  emulatedRegion,
  emulatorFolder,
  ran,
  startMinistack,
} from '../../infra/operate/stage/emulator/ministack.ts';
import { addressOfApi, emulatedStage } from '../../infra/operate/stage/emulator/stage.ts';
import { demoUser, type Place } from '../proof/trial/trial.ts';

const root = resolve(import.meta.dirname, '../..');
const appId = '500000000000001';
const everyMs = 1_000;

/** The API has a name of our own, as in a deployment, so that the platform's webhooks reach the API that stands now. */
interface Door {
  readonly url: string;
  leadTo(apiUrl: string): void;
  readonly stop: () => Promise<void>;
}

async function openDoor(): Promise<Door> {
  let apiUrl = '';
  const server = createServer(async (request, response) => {
    try {
      const init = {
        method: 'POST',
        headers: signedHeaders(request.headers),
        body: new Uint8Array(await buffer(request)),
      };
      const answer = await fetch(`${apiUrl}${request.url}`, init);
      response.writeHead(answer.status).end(await answer.text());
    } catch {
      // No API stands behind the door just now: the platform posts again.
      response.writeHead(502).end();
    }
  });
  const port = await openOnLoopback(server, 0);
  return {
    url: `http://127.0.0.1:${port}`,
    leadTo: (url) => {
      apiUrl = url;
    },
    stop: () => closeAtOnce(server),
  };
}

function signedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const names = ['content-type', 'x-hub-signature', 'x-hub-signature-256'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}

/** The emulator of AWS has nothing deployed; the door is between the simulated platform and the API. */
export interface EmulatedService {
  readonly endpoint: string;
  /** A command needs this in its environment to reach both. */
  readonly environment: NodeJS.ProcessEnv;
  readonly platformUrl: string;
  readonly door: Door;
  readonly stop: () => Promise<void>;
}

/**
 * Starts the emulator, the platform and the door. Clients of this process, too, reach the emulator from then on and
 * nothing else.
 */
export async function startEmulatedService(signal: AbortSignal): Promise<EmulatedService> {
  const emulator = await startMinistack();
  const simulator = await startSimulatorProcess(0, { signal });
  const door = await openDoor();
  const aws = emulatedAws(emulator.endpoint);
  for (const [name, value] of Object.entries(aws)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  return {
    endpoint: emulator.endpoint,
    environment: { ...aws, PLATFORM_BASE_URL: simulator.endpoint },
    platformUrl: simulator.endpoint,
    door,
    stop: async () => {
      await simulator.stop();
      await door.stop();
      await emulator.stop();
    },
  };
}

interface Provisioned {
  readonly throughputPerSecond: number;
  /** Another checkout's command may provision. */
  readonly folder?: string;
  readonly signal: AbortSignal;
}

/**
 * Provisions the demo data with slow numbers, so that a send takes a while: the platform says no throughput of them,
 * because its word would count instead. Returns the file.
 */
export async function provisionDemo(
  { environment, platformUrl }: EmulatedService,
  { throughputPerSecond, folder = root, signal }: Provisioned,
): Promise<string> {
  const file = join(emulatorFolder, 'provisioning.json');
  const demo = JSON.parse(readFileSync(join(root, 'infra/local/demo/provisioning.json'), 'utf8'));
  for (const { phone_number_id: id } of demo.channels) {
    const body = { throughput: { level: 'NOT_APPLICABLE' } };
    await call({ baseUrl: platformUrl, route: `POST /_control/numbers/${id}`, body, signal });
  }
  const channels = demo.channels.map((channel: object) => ({ ...channel, throughput_per_second: throughputPerSecond }));
  writeFileSync(file, JSON.stringify({ ...demo, channels, $schema: undefined }));
  const provision = ['infra/run.mjs', 'infra/operate/ops.ts', 'provision', file, '--stage', emulatedStage];
  ran(process.execPath, provision, { environment, folder });
  return file;
}

/** Returns the API as it is deployed now: its address changes with the stack, that for the platform stays. */
async function served(
  { endpoint, door, platformUrl }: EmulatedService,
  user: string,
  signal: AbortSignal,
): Promise<DemoClient> {
  const apiUrl = await addressOfApi(endpoint);
  door.leadTo(apiUrl);
  const callback = { callback_url: `${door.url}/platform/webhook` };
  await call({ baseUrl: platformUrl, route: `POST /_control/apps/${appId}`, body: callback, signal });
  const addresses = { dynamodbEndpoint: endpoint, secretsEndpoint: endpoint, region: emulatedRegion };
  return logIn({ apiUrl, platformUrl, stage: emulatedStage, ...addresses }, user, signal);
}

/** Synchronizes, and returns how many templates there are then. */
export async function synchronized({ endpoint }: EmulatedService, client: DemoClient, signal: AbortSignal) {
  const baseUrl = await addressOfApi(endpoint);
  const login = { username: demoUser, password: `demo-${demoUser}` };
  const { json } = await call({ baseUrl, route: 'POST /login', body: login, signal });
  const { access_token: token } = json as { readonly access_token: string };
  await call({ baseUrl, route: 'POST /v1/templates/sync-from-platform', body: {}, token, signal });
  const look = async () => (await client.listTemplates()).total;
  const total = await watched({ look, isOver: (all) => all > 0, sign: String, everyMs, quietLimitMs: 60_000, signal });
  if (total === 0) throw new CommandError('no template came by the synchronization', 1);
  return total;
}

/** A trial runs there; its reports are asked for where the API stands at the log-in. */
export function emulatedPlace(service: EmulatedService, given: Pick<Place, 'signal' | 'endMs'>): Place {
  return { ...given, platformUrl: service.platformUrl, logIn: (user) => served(service, user, given.signal) };
}
