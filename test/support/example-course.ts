import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { addressOf } from './addresses.ts';
import { eventually, tokenOf } from './api.ts';
import { receiveEvents } from './event-receiver.ts';
import { create, type Draft } from './template-probes.ts';

const root = join(import.meta.dirname, '../..');

// These steps apply to every program of test/examples, in any language.

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The README of an example shows these commands; they run in a copy of it. */
export interface Example {
  /** The lines before the tour install and compile. */
  prepare(): Promise<void>;
  /** Runs the tour on the stack of this test. */
  tour(): Promise<Ended>;
  /** Verifies a delivery with the secret. */
  receive(secret: string, delivery: object): Promise<Ended>;
  remove(): void;
}

/**
 * Copies an example into an empty folder, with openapi.json beside its files. Its commands run there with `nodeFolder`
 * first on the PATH and without this project's tools.
 */
export function copiedExample(language: 'typescript' | 'python', nodeFolder: string): Example {
  const source = join(root, 'test/examples', language);
  const folder = mkdtempSync(join(tmpdir(), `example-${language}-`));
  cpSync(source, folder, { recursive: true, filter: (path) => !/\/(?:node_modules|dist)$/.test(path) });
  cpSync(join(root, 'functions/openapi.json'), join(folder, 'openapi.json'));
  const blocks = [...readFileSync(join(source, 'README.md'), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)];
  const lines = blocks.flatMap(([, block = '']) => block.trim().split('\n'));
  const [toTour = '', toReceive = ''] = lines.slice(-2);
  const foreign = (process.env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.startsWith(root));
  const env = {
    ...process.env,
    NODE_ENV: 'development',
    PATH: [nodeFolder, ...foreign].join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
    npm_config_prefer_offline: 'true',
    npm_config_loglevel: 'error',
  };
  const run = (line: string) => ended(line, { cwd: folder, env });
  return {
    async prepare() {
      for (const line of lines.slice(0, -2)) expect(await run(line), line).toMatchObject({ code: 0 });
    },
    tour: () => run(toTour.replace('http://127.0.0.1:3000', addressOf('apiUrl'))),
    receive(secret, delivery) {
      writeFileSync(join(folder, 'delivery.json'), JSON.stringify(delivery));
      return run(toReceive.replace('SECRET', secret));
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** Runs a shell line to its end. */
async function ended(line: string, options: object): Promise<Ended> {
  const child = spawn(line, { ...options, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

const sendable = [
  ...['order_update', 'welcome_offer', 'login_code', 'store_visit', 'spring_picks'],
  ...['single_pick', 'city_tour', 'coupon_drop', 'bid_offer', 'tent_video', 'invoice_file'],
  ...['weekend_offer', 'full_catalog', 'visit_survey', 'call_back', 'help_menu'],
];

/** Expects that the tour ends well, and sends every template that can be sent with the right parameters. */
export async function expectTour(example: Example, language: string): Promise<void> {
  const { code, stdout, stderr } = await example.tour();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    new RegExp(`^synchronization started\\ncreated PENDING\\ndeleted ${language}_\\w+\\nenabled 1\\n`, 'm'),
  );
  const sent = [...stdout.matchAll(/^sent (\w+) (\w+) /gm)].map(([, name, state]) => [name, state]);
  expect(new Map(sent as [string, string][])).toEqual(
    new Map(sendable.map((name) => [name, expect.stringMatching(/^(?:sent|delivered|read)$/)])),
  );
  expect(stdout).toMatch(/^opt-out stopped started of some$/m);
  expect(stdout).toMatch(/^logged in supervisor1001 of Andes Retail$/m);
  expect(stdout).toMatch(/^scheduled 1 cancelled 1$/m);
  expect(stdout).toMatch(/^retried 1 of 11$/m);
  expect(stdout).toMatch(/^spent [\d.]+ USD on \d+ messages$/m);
  expect(stdout).toContain('not sendable named_params - ');
  expect(stdout).toMatch(/^refused invalid_recipients recipients\[0\]\./m);
}

/** Expects that the example accepts the delivery of a creation, and refuses a changed, an unsigned and a late one. */
export async function expectJudged(example: Example, draft: Draft): Promise<void> {
  const { deliveries, secret } = await receiveEvents({ clientId: 1001, token: await tokenOf('supervisor1001') });
  expect((await create(draft)).status).toBe(200);
  const { headers, body } = await eventually('a delivery', async () => {
    return deliveries.find((each) => each.verified && each.body.includes(draft.name));
  });

  const judge = async (delivery: object) => example.receive(secret, delivery);
  expect(await judge({ headers, body })).toEqual({
    code: 0,
    stdout: `template.created ${draft.name}\n`,
    stderr: '',
  });
  const wrong = { code: 1, stdout: '', stderr: 'the signature is wrong\n' };
  expect(await judge({ headers, body: body.replace('template.created', 'template.deleted') })).toEqual(wrong);
  expect(await judge({ headers: { ...headers, 'webhook-signature': 'v1,' }, body })).toEqual(wrong);
  const late = { ...headers, 'webhook-timestamp': '1' };
  expect(await judge({ headers: late, body })).toEqual({ ...wrong, stderr: 'the delivery is too old\n' });
}
