import { createHash } from 'node:crypto';
import { generatedProducts } from './catalogs/products.ts';
import { Clock } from './clock.ts';
import { ExchangeLog } from './exchanges.ts';
import { FaultList } from './faults.ts';
import type { NodeFields } from './fields.ts';
import { HoldStore } from './holds.ts';
import { MessageLog, RequestLog } from './logs.ts';
import { MagicFates } from './magic-recipients.ts';
import { MediaStore } from './media/media-store.ts';
import { People } from './people.ts';
import { PeopleLog } from './people-log.ts';
import { MessagingLimits } from './portfolios/messaging-limits.ts';
import { PortfolioPacing } from './portfolios/pacing.ts';
import type { Seed, SeedToken } from './seed.ts';
import { Bill } from './sending/bill.ts';
import { ManagementUsage, PairLimit, ThroughputLimit } from './sending/limits.ts';
import { MarketingCaps } from './sending/marketing-caps.ts';
import { planReceipts } from './sending/plan-receipts.ts';
import { Preferences } from './sending/preferences.ts';
import { SendingRecord } from './sending/sending-record.ts';
import { CreationBudget, EditBudget, NameLocks } from './templates/budgets.ts';
import { LifeCycle, type OnTemplateChange } from './templates/life-cycle.ts';
import { TemplateStore } from './templates/template-store.ts';
import { Threads } from './threads.ts';
import { UploadStore } from './uploads/upload-store.ts';
import type { Catalog, PhoneNumber, Waba } from './wabas.ts';
import { type App, AppRegistry } from './webhooks/app-registry.ts';
import { DeliveryLog } from './webhooks/delivery-log.ts';
import { holdUpdates } from './webhooks/hold-updates.ts';
import { Outbox } from './webhooks/outbox.ts';
import { ReceiptRules } from './webhooks/receipt-rules.ts';
import { templateUpdates } from './webhooks/template-updates.ts';

/** A reset discards the whole state and builds a new one from the seed. */
export interface World {
  readonly clock: Clock;
  readonly tokens: Map<string, SeedToken>;
  readonly wabas: ReadonlyMap<string, Waba>;
  readonly numbers: ReadonlyMap<string, PhoneNumber>;
  readonly catalogs: ReadonlyMap<string, Catalog>;
  readonly templates: TemplateStore;
  readonly lifeCycle: LifeCycle;
  readonly creations: CreationBudget;
  readonly edits: EditBudget;
  readonly nameLocks: NameLocks;
  readonly uploads: UploadStore;
  readonly media: MediaStore;
  readonly messages: MessageLog;
  readonly requests: RequestLog;
  readonly exchanges: ExchangeLog;
  /** These recipients block the business. */
  readonly blocked: Set<string>;
  readonly people: People;
  readonly personActs: PeopleLog;
  readonly preferences: Preferences;
  readonly marketingCaps: MarketingCaps;
  readonly threads: Threads;
  readonly limits: MessagingLimits;
  readonly bill: Bill;
  readonly pacing: PortfolioPacing;
  /** Direct Send makes templates of an enabled WABA's texts and refuses a blocked WABA's. */
  readonly directSend: Map<string, 'ENABLED' | 'BLOCKED'>;
  /** The keys are phone number ids. */
  readonly profiles: Map<string, NodeFields>;
  readonly sending: SendingRecord;
  readonly faults: FaultList;
  readonly holds: HoldStore;
  readonly throughput: ThroughputLimit;
  readonly pairs: PairLimit;
  readonly managementUsage: ManagementUsage;
  readonly magicFates: MagicFates;
  readonly apps: AppRegistry;
  readonly outbox: Outbox;
  readonly deliveries: DeliveryLog;
  readonly receiptRules: ReceiptRules;
  /** Applies what happens by itself: reviews, and the ends of pauses, holds and pacing. */
  readonly settle: (nowMs: number) => void;
  readonly tellTemplate: OnTemplateChange;
  /** Returns no text twice. */
  readonly nextChallenge: () => string;
  /** Returns no text twice. */
  readonly nextTraceId: () => string;
}

/** Builds the world from the seed. Known apps keep their callbacks and `updates_per_post`. */
export function createWorld(seed: Seed, realNowMs: () => number, knownApps: readonly App[] = []): World {
  const wabas = new Map(seed.wabas.map((waba) => [waba.node.id, wabaOf(waba)]));
  const templates = new TemplateStore();
  for (const waba of seed.wabas) {
    for (const { id, ...fields } of waba.templates) templates.add(waba.node.id, fields, id);
  }
  const apps = appsOf(seed, knownApps);
  const outbox = new Outbox((wabaId, field) => apps.targetsOf(wabaId, field));
  const tellTemplate: OnTemplateChange = (before, after, change) => {
    for (const update of templateUpdates(before, after, change)) outbox.add(update, change.atMs);
  };
  const lifeCycle = new LifeCycle(templates, tellTemplate);
  const holds = new HoldStore((hold, turn) => {
    for (const update of holdUpdates(hold, turn)) outbox.add(update, turn.atMs);
  });
  const limits = new MessagingLimits();
  const bill = new Bill();
  const messages = new MessageLog();
  const pacing = new PortfolioPacing(({ message, course }, { atMs, code }) => {
    const after = { ...course, held_ms: atMs - message.acceptedMs };
    const turn = code === undefined ? after : { ...after, fail: code, failed_after_ms: 0 };
    messages.tellAll(message.id, planReceipts({ outbox, limits, bill }, message, turn));
  });
  let traces = 0;
  let challenges = 0;
  return {
    clock: new Clock(realNowMs),
    tokens: new Map(seed.tokens.map((token) => [token.token, token])),
    wabas,
    numbers: new Map([...wabas.values()].flatMap((waba) => waba.numbers.map((number) => [number.id, number]))),
    catalogs: new Map([...wabas.values()].flatMap((waba) => waba.catalogs.map((catalog) => [catalog.id, catalog]))),
    templates,
    lifeCycle,
    holds,
    settle: (nowMs) => {
      lifeCycle.settle(nowMs);
      holds.settle(nowMs);
      pacing.settle(nowMs);
    },
    creations: new CreationBudget(),
    edits: new EditBudget(),
    nameLocks: new NameLocks(),
    uploads: new UploadStore(),
    media: new MediaStore(),
    apps,
    outbox,
    deliveries: new DeliveryLog(),
    receiptRules: new ReceiptRules(),
    tellTemplate,
    nextChallenge: () => {
      challenges += 1;
      return String(1_158_201_444 + challenges);
    },
    messages,
    requests: new RequestLog(),
    exchanges: new ExchangeLog(),
    blocked: new Set(),
    people: new People(),
    personActs: new PeopleLog(),
    preferences: new Preferences(),
    marketingCaps: new MarketingCaps(),
    threads: new Threads(),
    limits,
    bill,
    pacing,
    directSend: new Map(),
    profiles: new Map(),
    sending: new SendingRecord(),
    faults: new FaultList(),
    throughput: new ThroughputLimit(),
    pairs: new PairLimit(),
    managementUsage: new ManagementUsage(),
    magicFates: new MagicFates(),
    nextTraceId: () => {
      traces += 1;
      return `A${createHash('sha256').update(String(traces)).digest('base64url').slice(0, 22)}`;
    },
  };
}

function wabaOf(seed: Seed['wabas'][number]): Waba {
  return {
    id: seed.node.id,
    fields: seed.node,
    numbers: seed.phone_numbers.map((number, place) => ({
      id: number.id,
      wabaId: seed.node.id,
      digits: number.display_phone_number.replaceAll(/\D/g, ''),
      fields: number,
      place,
    })),
    catalogs: seed.product_catalogs.map(({ generated_products: count, ...fields }, place) => ({
      id: fields.id,
      wabaId: seed.node.id,
      products: generatedProducts(fields.id, count),
      fields,
      place,
    })),
  };
}

function appsOf(seed: Seed, known: readonly App[]): AppRegistry {
  const registry = new AppRegistry();
  for (const { id, name, secret, subscribed_waba_ids: wabaIds } of seed.apps) {
    const { callback, updatesPerPost } = known.find((app) => app.id === id) ?? {};
    registry.put({ id, name, secret, callback, updatesPerPost });
    for (const wabaId of wabaIds) registry.subscribe(wabaId, { appId: id });
  }
  return registry;
}
