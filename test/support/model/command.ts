import fc from 'fast-check';
import { compareAll } from './compare.ts';
import type { Model } from './model.ts';
import type { Service } from './service.ts';
import { type ClientId, campaignIds, channels, clientIds, clientsOf, type Pair, type Slot, slots } from './setting.ts';

export type ModelCommand = fc.AsyncCommand<Model, Service>;
type Step<T> = (model: Model, service: Service, given: T) => Promise<void>;

/**
 * Makes a command: a second passes, the step calls the service, compares the answer with the model and changes the
 * model; then each client's listing must equal the model.
 */
export function command<T>(label: string, given: fc.Arbitrary<T>, step: Step<T>): fc.Arbitrary<ModelCommand> {
  return given.map((values) => ({
    check: () => true,
    run: async (model, service) => {
      model.letPass(1_000);
      service.platform.clock.nowMs = model.nowMs;
      await step(model, service, values);
      await compareAll(model, service);
    },
    toString: () => `${label} ${JSON.stringify(values)}`,
  }));
}

export const anySlot: fc.Arbitrary<Slot> = fc.constantFrom(...slots);
const oneInTen = fc.nat({ max: 9 }).map((one) => one === 0);

/** A command resolves caller and template when it runs, from what exists then. */
export interface Choice {
  /** The indexes count into the existing items, modulo their number. */
  readonly template: number;
  readonly owner: number;
  readonly document: number;
  readonly actor: number;
  /** The `_id` once named a document. */
  readonly past: boolean;
  /** A client, and a WABA for its DID, may be unrelated to the template. */
  readonly stray: boolean;
}

export const anyChoice: fc.Arbitrary<Choice> = fc.record({
  template: fc.nat({ max: 11 }),
  owner: fc.nat({ max: 1 }),
  document: fc.nat({ max: 3 }),
  actor: fc.nat({ max: 11 }),
  past: oneInTen,
  stray: oneInTen,
});

const idOfNothing = 'aaaaaaaaaaaaaaaa-rt-0';

export interface Chosen {
  readonly id: string;
  readonly clientId: ClientId;
  readonly wabaId: string;
}

export function chosen(model: Model, { template, owner, document, actor, past, stray }: Choice): Chosen {
  const live = [...model.stored.values()].filter(({ deleted }) => !deleted);
  const wanted = live[template % live.length];
  const { wabaId } = wanted?.slot ?? slots[0];
  const clients = clientsOf(wabaId);
  const documents = wanted?.kept.get(at(clients, owner))?.documents ?? [];
  const id = past ? at(model.idsOfThePast(), document) : at(documents, document)?.id;
  return {
    id: id ?? idOfNothing,
    clientId: stray ? at(clientIds, actor) : at(clients, actor),
    wabaId: stray ? at(slots, template).wabaId : wabaId,
  };
}

/** Returns the element at the index modulo the length; undefined only for an empty list. */
function at<T>(list: readonly T[], place: number): T {
  return list[place % list.length] as T;
}

/** The caller has these pairs, sometimes one with an unknown channel. */
export interface PairChoice {
  readonly pairs: readonly { readonly channel: number; readonly campaignId: number }[];
  readonly foreign: boolean;
}

export const anyPairs: fc.Arbitrary<PairChoice> = fc.record({
  pairs: fc.array(fc.record({ channel: fc.nat({ max: 1 }), campaignId: fc.constantFrom(...campaignIds) }), {
    maxLength: 4,
  }),
  foreign: oneInTen,
});

export function chosenPairs(clientId: ClientId, { pairs, foreign }: PairChoice): Pair[] {
  const own = channels.filter((channel) => channel.clientId === clientId);
  const chosenOnes = pairs.map(({ channel, campaignId }) => ({ channelId: at(own, channel).channelId, campaignId }));
  return foreign ? [...chosenOnes, { channelId: 999, campaignId: 10 }] : chosenOnes;
}

/** A channel of another WABA than the template's cannot be assigned (D14); callers assign only their own channels. */
export const isForeignTo = (wabaId: string, pairs: readonly Pair[]) =>
  pairs.some(({ channelId }) => channels.find((channel) => channel.channelId === channelId)?.wabaId !== wabaId);

export const written = (pairs: readonly Pair[]) =>
  pairs.map(({ channelId, campaignId }) => ({ channel_id: channelId, campaign_id: campaignId }));
