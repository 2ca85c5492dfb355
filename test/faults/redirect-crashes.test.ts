import { DeleteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { resolveTemplate } from '../../lib/messages/resolve/resolve-template.ts';
import { redirectCode } from '../../lib/redirects/code.ts';
import { pendingSeconds, redirectStore } from '../../lib/redirects/redirect-store.ts';
import { redirectCodesOf } from '../../lib/redirects/rewriting.ts';
import { offeredRedirects } from '../../lib/templates/authoring/button-redirects.ts';
import { keepingRedirects } from '../../lib/templates/authoring/kept-redirects.ts';
import type { CreatedTemplate } from '../../lib/templates/authoring/platform-template-management.ts';
import { parseCreateRequest } from '../../lib/templates/create/create-request.ts';
import { createTemplate } from '../../lib/templates/create/create-template.ts';
import { creationStore } from '../../lib/templates/create/creation-store.ts';
import { editTemplate } from '../../lib/templates/edit/edit-template.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';
import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { runSync } from '../../lib/templates/sync/sync.ts';
import { noCounts } from '../../lib/templates/sync/sync-message.ts';
import { makeChannel, makeWaba } from '../support/directory.ts';
import { failures } from '../support/management.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { MemoryLookups } from '../support/memory-lookups.ts';
import { noTemplateHolds } from '../support/no-template-holds.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { makeTemplate } from '../support/templates.ts';
import { firstUnlessThorough } from '../support/thorough.ts';

/*
 * The process that makes redirects (D19) dies before or after each of its requests. A button of a stored template
 * redirects from its first reading at the latest; an unused redirect never does.
 */

const startMs = 1_800_000_000_000;
const baseUrl = 'https://go.example.com/r';
const targets = ['https://shop.example.com/one', 'https://shop.example.com/two'];
const body = { type: 'BODY', text: 'Hello there, good news.' };
const nowhere = [undefined, undefined];
const buttons = targets.map((url, index) => ({ type: 'URL', text: `Open ${index}`, url }));
const wanted = [body, { type: 'BUTTONS', buttons }];
const wish = { category: 'MARKETING', components: wanted, allow_button_url_change: true };

const answers = ['yes', 'no', 'not reached', 'lost, and done', 'lost, and not done'] as const;
type Answer = (typeof answers)[number];
const readers = ['synchronization', 'send', 'edit'] as const;

class Crash extends Error {}

/** The process dies once, right before or right after its request of this number, and makes no more requests. */
class Mortal {
  requests = 0;
  #dead = false;
  readonly #at: number;
  readonly #when: 'before' | 'after';

  constructor(at = Number.POSITIVE_INFINITY, when: 'before' | 'after' = 'before') {
    this.#at = at;
    this.#when = when;
  }

  async request<T>(make: () => Promise<T>): Promise<T> {
    if (this.#dead) throw new Crash();
    const last = this.requests++ === this.#at;
    if (last) this.#dead = true;
    if (last && this.#when === 'before') throw new Crash();
    const reply = await make();
    if (this.#dead) throw new Crash();
    return reply;
  }
}

let tables: { readonly templates: string; readonly redirects: string };
let worlds = 0;
beforeAll(async () => {
  tables = { templates: await freshTable('templates'), redirects: await freshTable('redirects') };
});
// The logs of a dying process only fill the output.
beforeEach(() => void vi.spyOn(process.stdout, 'write').mockReturnValue(true));
afterEach(() => vi.restoreAllMocks());

const own = localDocumentClient();

/** Makes a WABA with a client of its own, and the real state of the platform. */
function makeWorld() {
  worlds += 1;
  const clientId = 10_000 + worlds;
  const waba = makeWaba({ wabaId: String(10 ** 14 + worlds), clientIds: [clientId] });
  const did = { waba, channel: makeChannel({ clientId, wabaId: waba.wabaId }) };
  const spelled = { name: `news_${worlds}`, language: 'en_US' };
  const key = templateKey({ wabaId: waba.wabaId, ...spelled });
  const upstream: { template: PlatformTemplate | undefined; nowMs: number } = { template: undefined, nowMs: startMs };
  return { clientId, waba, did, spelled, key, upstream };
}
type World = ReturnType<typeof makeWorld>;

function clientOf(mortal: Mortal): DynamoDBDocumentClient {
  const client = localDocumentClient();
  // The middleware runs outside the SDK's retries, because a dead process does not retry.
  client.middlewareStack.add((next) => (args) => mortal.request(() => next(args)), {
    step: 'initialize',
    tags: ['test'],
  });
  return client;
}

/** Returns the platform's ports. Its answer to a change also decides whether it does the change. */
function upstreamPorts({ upstream }: World, mortal: Mortal, answer: Answer) {
  const act = (change: () => void) =>
    mortal.request(async () => {
      if (answer === 'no') throw failures.content;
      if (answer === 'not reached') throw failures.unreachable;
      if (answer !== 'lost, and not done') change();
      if (answer !== 'yes') throw failures.brokenOff;
    });
  return {
    management: {
      create: async (_: unknown, template: object): Promise<CreatedTemplate> => {
        if (upstream.template !== undefined) throw failures.content;
        const created = { id: '77', status: 'APPROVED', category: 'MARKETING' };
        await act(() => {
          upstream.template = { ...template, ...created } as PlatformTemplate;
        });
        return created;
      },
      edit: async (_: unknown, { changes }: { readonly changes: object }) =>
        act(() => {
          upstream.template = { ...upstream.template, ...changes } as PlatformTemplate;
        }),
    },
    templateHolds: noTemplateHolds,
    platformTemplates: {
      find: () => mortal.request(async () => upstream.template),
      lookUp: () =>
        mortal.request(async () => ({
          sameName: [],
          found: upstream.template,
        })),
    },
    platform: {
      page: () => mortal.request(async () => ({ templates: [upstream.template ?? []].flat(), unreadable: [] })),
    },
  };
}

function portsOf(world: World, mortal: Mortal, answer: Answer = 'yes') {
  const { upstream, waba } = world;
  const client = clientOf(mortal);
  const events = new MemoryEvents();
  const redirects = redirectStore(client, tables.redirects);
  return {
    ...upstreamPorts(world, mortal, answer),
    creations: creationStore(client, tables.templates),
    templates: keepingRedirects(templateStore(client, tables.templates), redirects),
    redirects: offeredRedirects(baseUrl, redirects),
    questions: new MemoryLookups(),
    directory: { listWabas: async () => [waba] },
    pairFaults: async () => [],
    events: { send: (sent: Parameters<MemoryEvents['send']>[0]) => mortal.request(() => events.send(sent)) },
    fetchPublic: () => Promise.reject(new Error('no media here')),
    uploadMedia: () => Promise.reject(new Error('no media here')),
    nowMs: () => upstream.nowMs,
    pause: async () => undefined,
  };
}

type Work = (world: World, mortal: Mortal, answer?: Answer) => Promise<unknown>;

const create: Work = ({ spelled, did, clientId, ...world }, mortal, answer) => {
  const request = parseCreateRequest({ ...spelled, ...wish }, { redirectsOffered: true });
  const order = { request, did, clientId, userId: 'u-1', startedAtMs: world.upstream.nowMs };
  return createTemplate(portsOf({ spelled, did, clientId, ...world }, mortal, answer), order);
};

const edit: Work = (world, mortal, answer) => {
  const { key, clientId, upstream, waba } = world;
  const messageTemplateId = documentId({ templateKey: key, clientId, sequence: 0 });
  const request = { components: wanted, urlChange: true };
  const ports = portsOf(world, mortal, answer);
  return editTemplate(ports, waba, { messageTemplateId, clientId, request, startedAtMs: upstream.nowMs });
};

const synchronize: Work = (world, mortal) => {
  const { waba, clientId } = world;
  const lock = { name: 'sync', owner: `sync of ${clientId} at ${world.upstream.nowMs}`, fence: 1 };
  const locks = { acquire: async () => lock, heartbeat: async () => true, release: async () => undefined };
  const workshop = { ...portsOf(world, mortal), refreshChannels: async () => 0, locks };
  const message = { lock, clientId, wabaIds: [waba.wabaId], counts: noCounts, correlationId: 'test' };
  return runSync(workshop, message, () => 900_000).then(({ kind }) => kind);
};

const send: Work = (world, mortal) => {
  const { waba, clientId, spelled } = world;
  return resolveTemplate({ waba, clientId, askerId: 'test', ...spelled }, portsOf(world, mortal));
};

const work = { synchronization: synchronize, send, edit };

const leadTo = (codes: readonly string[]) =>
  Promise.all(codes.map((code) => redirectStore(own, tables.redirects).urlOf(code)));

/** Returns the URL of each button in the platform's template. */
function whereButtonsLead({ upstream }: World): Promise<(string | undefined)[]> {
  return leadTo(redirectCodesOf(upstream.template?.components ?? []));
}

/** The codes of a stored template that is not deleted must redirect at any moment. */
async function expectStoredLeadsOn(world: World): Promise<void> {
  const { fact } = await templateStore(own, tables.templates).stateOf(world.key, [world.clientId]);
  if (fact === undefined || fact.deleted) return;
  const codes = redirectCodesOf(fact.template.components);
  expect(await leadTo(codes)).toEqual(codes.map((_, index) => targets[index]));
}

/** Tries a death before and after each request, and a run without one. */
async function everyDeath(
  begin: () => Promise<World>,
  live: Work,
  then: (world: World) => Promise<void>,
): Promise<number> {
  let deaths = 0;
  for (let at = 0; ; at++) {
    for (const when of ['before', 'after'] as const) {
      const world = await begin();
      const mortal = new Mortal(at, when);
      await live(world, mortal).catch(() => undefined);
      await expectStoredLeadsOn(world);
      await then(world);
      if (mortal.requests <= at) return deaths;
      deaths += 1;
    }
  }
}

const beginnings = {
  creation: { begin: async () => makeWorld(), live: create },
  edit: {
    begin: async () => {
      const world = makeWorld();
      const { waba, spelled, upstream } = world;
      upstream.template = makeTemplate({ ...spelled, id: '77', category: 'MARKETING', components: [body] });
      await templateStore(own, tables.templates).refresh(waba, upstream.template, startMs - 1_000);
      return world;
    },
    live: edit,
  },
};

const codesOf = ({ key }: World) =>
  targets.map((url, index) => redirectCode({ templateKey: key, place: `buttons[${index}]`, url }));

describe.each(['creation', 'edit'] as const)('a %s that dies', (what) => {
  const { begin, live } = beginnings[what];
  const mayRead = what === 'edit' ? readers : readers.slice(0, 2);

  test.each(firstUnlessThorough(answers))('the platform says: %s', { timeout: 600_000 }, async (answer) => {
    let taken = 0;
    const asking: Work = (world, mortal) => live(world, mortal, answer);
    const deaths = await everyDeath(begin, asking, async (world) => {
      const { upstream } = world;
      const codes = codesOf(world);
      const used = redirectCodesOf(upstream.template?.components ?? []);
      if (used.length > 0) {
        taken += 1;
        expect(used).toEqual(codes);
        if (answer !== 'yes') expect(await leadTo(codes)).toEqual(nowhere);
        // The template stays unread until shortly before a pending redirect expires.
        upstream.nowMs = startMs + (pendingSeconds - 1) * 1_000;
        await work[mayRead[worlds % mayRead.length] ?? 'send'](world, new Mortal());
        await expectStoredLeadsOn(world);
        expect(await whereButtonsLead(world)).toEqual(targets);
      } else {
        expect(await leadTo(codes)).toEqual(nowhere);
        await synchronize(world, new Mortal());
        expect(await leadTo(codes)).toEqual(nowhere);
      }
    });
    expect(deaths).toBeGreaterThanOrEqual(8);
    expect(taken > 0).toBe(answer === 'yes' || answer === 'lost, and done');
  });

  test.each(firstUnlessThorough(readers.filter((reader) => mayRead.includes(reader))))(
    'and so does the %s that reads the template; the next one makes it good',
    { timeout: 600_000 },
    async (reader) => {
      const unsettled = async () => {
        const world = await begin();
        // This process dies after its request to the platform.
        const mortal = new Mortal(await requestsUntilAsked(begin, live), 'after');
        await live(world, mortal).catch(() => undefined);
        expect(redirectCodesOf(world.upstream.template?.components ?? [])).toEqual(codesOf(world));
        expect(await whereButtonsLead(world)).toEqual(nowhere);
        // A send no longer trusts so old a copy.
        world.upstream.nowMs += 600_000;
        return world;
      };
      const deaths = await everyDeath(unsettled, work[reader], async (world) => {
        await work[reader](world, new Mortal());
        await expectStoredLeadsOn(world);
        expect(await whereButtonsLead(world)).toEqual(targets);
      });
      expect(deaths).toBeGreaterThan(3);
    },
  );

  test('a repetition that is refused does not end the redirects of the request whose answer was lost', async () => {
    const world = await begin();
    await live(world, new Mortal(await requestsUntilAsked(begin, live), 'after')).catch(() => undefined);
    await live(world, new Mortal(), 'no').catch(() => undefined);
    await synchronize(world, new Mortal());
    expect(await whereButtonsLead(world)).toEqual(targets);
  });
});

test('a redirect that expired before anybody read the template leads on again when the edit is repeated', async () => {
  const world = await beginnings.edit.begin();
  await edit(world, new Mortal(await requestsUntilAsked(beginnings.edit.begin, edit), 'after')).catch(() => undefined);
  for (const code of codesOf(world)) {
    await own.send(new DeleteCommand({ TableName: tables.redirects, Key: { pk: `REDIRECT#${code}` } }));
  }
  expect(await edit(world, new Mortal())).toMatchObject({ changed: false });
  expect(await whereButtonsLead(world)).toEqual(targets);
});

/** Returns the number of the request that asks the platform for the change. */
async function requestsUntilAsked(begin: () => Promise<World>, live: Work): Promise<number> {
  const world = await begin();
  const mortal = new Mortal();
  const before = world.upstream.template;
  let asked = 0;
  Object.defineProperty(world.upstream, 'template', {
    get: () => before,
    set: () => {
      asked = mortal.requests - 1;
    },
  });
  await live(world, mortal).catch(() => undefined);
  return asked;
}
