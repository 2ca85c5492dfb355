import { createHash } from 'node:crypto';
import { generatedProducts } from './catalogs/products.ts';
import { Clock } from './clock.ts';
import { FaultList } from './faults.ts';
import { MessageLog, RequestLog } from './logs.ts';
import { MagicFates } from './magic-recipients.ts';
import type { Seed, SeedToken } from './seed.ts';
import { ManagementUsage, PairLimit, ThroughputLimit } from './sending/limits.ts';
import { CreationBudget, EditBudget, NameLocks } from './templates/budgets.ts';
import { LifeCycle } from './templates/life-cycle.ts';
import { TemplateShelf } from './templates/shelf.ts';
import { UploadShelf } from './uploads/upload-shelf.ts';
import type { Catalog, PhoneNumber, Waba } from './wabas.ts';

/** Everything the simulator knows. A reset throws it away and builds a new one from the seed. */
export interface World {
  readonly clock: Clock;
  readonly tokens: ReadonlyMap<string, SeedToken>;
  readonly wabas: ReadonlyMap<string, Waba>;
  readonly numbers: ReadonlyMap<string, PhoneNumber>;
  readonly catalogs: ReadonlyMap<string, Catalog>;
  readonly templates: TemplateShelf;
  readonly lifeCycle: LifeCycle;
  readonly creations: CreationBudget;
  readonly edits: EditBudget;
  readonly nameLocks: NameLocks;
  readonly uploads: UploadShelf;
  readonly messages: MessageLog;
  readonly requests: RequestLog;
  readonly faults: FaultList;
  readonly throughput: ThroughputLimit;
  readonly pairs: PairLimit;
  readonly managementUsage: ManagementUsage;
  readonly magicFates: MagicFates;
  /** The next trace id, different for every reply. */
  readonly nextTraceId: () => string;
}

export function createWorld(seed: Seed, realNowMs: () => number): World {
  const wabas = new Map(seed.wabas.map((waba) => [waba.node.id, wabaOf(waba)]));
  const templates = new TemplateShelf();
  for (const waba of seed.wabas) {
    for (const { id, ...fields } of waba.templates) templates.add(waba.node.id, fields, id);
  }
  let traces = 0;
  return {
    clock: new Clock(realNowMs),
    tokens: new Map(seed.tokens.map((token) => [token.token, token])),
    wabas,
    numbers: new Map([...wabas.values()].flatMap((waba) => waba.numbers.map((number) => [number.id, number]))),
    catalogs: new Map([...wabas.values()].flatMap((waba) => waba.catalogs.map((catalog) => [catalog.id, catalog]))),
    templates,
    lifeCycle: new LifeCycle(templates),
    creations: new CreationBudget(),
    edits: new EditBudget(),
    nameLocks: new NameLocks(),
    uploads: new UploadShelf(),
    messages: new MessageLog(),
    requests: new RequestLog(),
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
      messagesPerSecond: number.is_on_biz_app ? 20 : number.throughput.level === 'HIGH' ? 1_000 : 80,
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
